//! MCP servers that an editor hands over: its user set them up there, so they may start.

use std::path::Path;

use agent_client_protocol::{Error, v1::schema::McpServer};
use pointsman_runtime::{
    engine::ApprovedServers,
    mcp::{McpLimits, McpServerList, NamedServer},
};

use super::error;

/// Adds an editor's servers to those of the workspace.
pub(super) fn with(
    approved: Option<ApprovedServers>,
    workspace: &Path,
    servers: Vec<McpServer>,
) -> Result<Option<ApprovedServers>, Error> {
    if servers.is_empty() {
        return Ok(approved);
    }
    let ApprovedServers { servers: mut listed, mut names, limits } =
        approved.unwrap_or_else(|| ApprovedServers {
            servers: McpServerList::empty(workspace),
            names: Vec::new(),
            limits: McpLimits::default(),
        });
    for server in servers {
        let (name, server) = named(server)?;
        if name.is_empty() || name.contains(char::is_control) {
            return Err(error::bad_params("an MCP server's name must be printable"));
        }
        listed = listed.with(&name, server);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Ok(Some(ApprovedServers { servers: listed, names, limits }))
}

fn named(server: McpServer) -> Result<(String, NamedServer), Error> {
    match server {
        McpServer::Stdio(server) => {
            let command = server.command.into_os_string().into_string().map_err(|command| {
                let command = command.display();
                error::bad_params(&format!("the MCP server's command `{command}` is not UTF-8"))
            })?;
            let env = server.env.into_iter().map(|it| (it.name, it.value)).collect();
            Ok((server.name, NamedServer::Program { command, args: server.args, env }))
        }
        McpServer::Http(server) => {
            let headers = server.headers.into_iter().map(|it| (it.name, it.value)).collect();
            Ok((server.name, NamedServer::Address { url: server.url, headers }))
        }
        McpServer::Sse(server) => Err(error::bad_params(&format!(
            "the MCP server `{}` uses `sse`, which is not supported: use `http` or `stdio`",
            server.name
        ))),
        _ => Err(error::bad_params("an MCP server of this kind is not supported")),
    }
}
