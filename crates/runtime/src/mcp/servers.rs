//! The servers of a run: those approved and started, and their tools.

use std::{path::Path, sync::Arc};

use futures_util::future::join_all;
use pointsman_kernel::{
    agent::FaultClass,
    tool::{Recovery, ToolDecl, ToolEffect},
};
use rmcp::{ServiceError, model::CallToolResponse};
use serde_json::{Value, value::RawValue};
use tokio::{sync::Mutex, time::timeout};

use super::{
    McpError, McpLimits, McpServerList,
    config::ServerEntry,
    connection::{Connection, reason},
    launch::Launch,
    output::{answered, classify, cut, fault, text},
    printable,
    tools::{Offered, labels, offered},
};
use crate::{
    effect::Completion,
    tool::{Tool, ToolContext, ToolFuture, ToolLimits, ToolSpec, WorkspaceTools},
};

/// The result of connecting to a list of servers.
#[derive(Debug)]
pub struct McpConnections {
    /// The servers that run.
    pub servers: Servers,
    /// The servers, and the tools as `SERVER/TOOL`, that are left out, and why.
    pub refused: Vec<(String, McpError)>,
}

/// Servers that run. Dropping them kills every program among them at once;
/// [`Servers::close`] lets them stop by themselves.
///
/// What they offer is fixed when they are asked for it: a server cannot change a tool
/// under a run.
#[derive(Debug, Default)]
pub struct Servers {
    servers: Vec<(Arc<Server>, Vec<Arc<Offered>>)>,
    limits: McpLimits,
}

#[derive(Debug)]
struct Server {
    name: String,
    label: String,
    believed: bool,
    launch: Launch,
    /// Nothing after the connection was lost; the next call opens it again.
    connection: Mutex<Option<Arc<Connection>>>,
}

impl Servers {
    /// Starts the servers that a person has approved by name, and no other. One that
    /// fails does not stop the rest.
    pub async fn connect(
        config: &McpServerList,
        trusted: &[String],
        limits: &McpLimits,
    ) -> McpConnections {
        let wrong = config.wrong().map(|(name, error)| (name.to_owned(), error));
        let mut refused: Vec<(String, McpError)> = wrong.collect();
        let unlisted = |name: &String| Some((name.clone(), config.unlisted(name)?));
        refused.extend(trusted.iter().filter_map(unlisted));
        // Named over the whole list, so that a server's tools keep their names whichever
        // of the others run.
        let mut starting = Vec::new();
        for ((name, entry), label) in config.servers().iter().zip(labels(config.names())) {
            if trusted.contains(name) {
                let believed = config.believes(name);
                starting.push(Server::start(name, label, entry, config.file(), believed, limits));
            } else {
                let key = config.key(name).unwrap_or_default().to_owned();
                let (name, summary) = (name.clone(), entry.summary());
                let error = McpError::Unapproved { name: name.clone(), key, summary };
                refused.push((name, error));
            }
        }
        let mut servers = Vec::new();
        for started in join_all(starting).await {
            match started {
                Ok((server, tools, left_out)) => {
                    refused.extend(left_out);
                    servers.push((Arc::new(server), tools));
                }
                Err(failed) => refused.push(failed),
            }
        }
        McpConnections { servers: Self { servers, limits: limits.clone() }, refused }
    }

    /// Returns the tools.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let tool = |tool: McpTool| -> Arc<dyn Tool> { Arc::new(tool) };
        self.offered().map(tool).collect()
    }

    /// Returns the descriptions of the tools for models.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.offered().map(|it| it.tool.spec.clone()).collect()
    }

    /// Returns the declarations of the tools for the kernel.
    pub fn decls(&self) -> Vec<ToolDecl> {
        self.offered().map(|it| it.tool.decl.clone()).collect()
    }

    /// Calls a tool. Arguments that do not fit its schema, and a tool that is not there,
    /// are results that a model can read; a server that cannot be reached is a fault.
    pub async fn call(&self, name: &str, arguments: &RawValue) -> Completion {
        let Some(it) = self.offered().find(|it| &*it.tool.spec.name == name) else {
            return answered(false, &format!("there is no tool `{name}`"), false);
        };
        it.run(serde_json::from_str(arguments.get()).unwrap_or_default()).await
    }

    /// Ends every connection and gives the programs time to stop by themselves.
    pub async fn close(self) {
        let within = self.limits.stop;
        join_all(self.servers.into_iter().map(|(server, tools)| async move {
            drop(tools);
            let connection = server.connection.lock().await.take();
            if let Some(connection) = connection.and_then(Arc::into_inner) {
                connection.close(within).await;
            }
        }))
        .await;
    }

    fn offered(&self) -> impl Iterator<Item = McpTool> {
        self.servers.iter().flat_map(|(server, tools)| {
            tools.iter().map(|tool| McpTool {
                server: Arc::clone(server),
                tool: Arc::clone(tool),
                limits: self.limits.clone(),
            })
        })
    }
}

/// A tool of a server.
struct McpTool {
    server: Arc<Server>,
    tool: Arc<Offered>,
    limits: McpLimits,
}

impl Tool for McpTool {
    fn name(&self) -> &str {
        &self.tool.spec.name
    }

    fn decl(&self) -> ToolDecl {
        self.tool.decl.clone()
    }

    fn spec(&self, _: &ToolLimits) -> Option<ToolSpec> {
        Some(self.tool.spec.clone())
    }

    fn call<'a>(&'a self, _: ToolContext<'a>, arguments: Value) -> ToolFuture<'a> {
        Box::pin(self.run(arguments))
    }

    fn refuses(&self, _: &WorkspaceTools, arguments: &Value) -> Option<String> {
        self.tool.fitting(arguments.clone()).err()
    }
}

impl McpTool {
    async fn run(&self, arguments: Value) -> Completion {
        let Self { server, tool, limits } = self;
        let arguments = match tool.fitting(arguments) {
            Ok(arguments) => arguments,
            Err(why) => return answered(false, &why, false),
        };
        let connection = match server.connection(limits).await {
            Ok(connection) => connection,
            Err(error) => {
                let message = format!("the MCP server `{}` is not available: {error}", server.name);
                return fault(FaultClass::Unavailable, true, None, message);
            }
        };
        // Without an answer, the call may or may not have been done.
        let repeatable = tool.decl.recovery == Recovery::Retry;
        let mutated = tool.decl.effect != ToolEffect::Read;
        let told = |ok, output: String| {
            answered(ok, &cut(server.launch.hide(output), limits.output), mutated)
        };
        let called = connection.call(&tool.original, arguments);
        match timeout(limits.call, called).await {
            Ok(Ok(CallToolResponse::Complete(result))) => {
                told(result.is_error != Some(true), text(&result))
            }
            Ok(Ok(_)) => told(false, "the tool needs an MCP feature that is not supported".into()),
            Ok(Err(ServiceError::McpError(error))) => {
                told(false, format!("the server rejected the call: {}", error.message))
            }
            Ok(Err(error)) => server.lost(&connection, &error, repeatable, limits).await,
            Err(_) => {
                let after = limits.call.as_secs_f64();
                let name = self.name();
                let message = format!("`{name}` did not answer within {after} s and was cancelled");
                fault(FaultClass::Timeout, repeatable, None, message)
            }
        }
    }
}

type Refused = (String, McpError);

impl Server {
    async fn start(
        name: &str,
        label: String,
        entry: &ServerEntry,
        file: &Path,
        believed: bool,
        limits: &McpLimits,
    ) -> Result<(Self, Vec<Arc<Offered>>, Vec<Refused>), Refused> {
        let refuse = |error| (name.to_owned(), error);
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let lookup = |variable: &str| std::env::var(variable).ok();
        let launch = Launch::new(entry, folder.unwrap_or_else(|| Path::new(".")), lookup);
        let launch = launch.map_err(refuse)?;
        let connection = Connection::open(&launch, limits).await.map_err(refuse)?;
        let mut server =
            Self { name: name.into(), label, believed, launch, connection: Mutex::default() };
        let (tools, left_out) = server.take_tools(&connection, limits).await.map_err(refuse)?;
        *server.connection.get_mut() = Some(Arc::new(connection));
        Ok((server, tools, left_out))
    }

    async fn take_tools(
        &self,
        connection: &Connection,
        limits: &McpLimits,
    ) -> Result<(Vec<Arc<Offered>>, Vec<Refused>), McpError> {
        let (mut tools, more) = connection.tools(&self.launch, limits).await?;
        for tool in &mut tools {
            self.launch.hide_in(tool);
        }
        let (tools, left_out) = offered(&self.label, self.believed, tools, limits);
        let of = |tool: String| format!("{}/{}", self.name, printable(&tool));
        let mut refused: Vec<Refused> =
            left_out.into_iter().map(|(tool, error)| (of(tool), error)).collect();
        if more {
            refused.push((self.name.clone(), McpError::TooMany { kept: limits.tools }));
        }
        Ok((tools.into_iter().map(Arc::new).collect(), refused))
    }

    /// Returns the connection. One that was lost is opened again, once per call.
    async fn connection(&self, limits: &McpLimits) -> Result<Arc<Connection>, McpError> {
        let opening = async {
            let mut held = self.connection.lock().await;
            if let Some(connection) = held.as_ref().filter(|connection| !connection.is_dead()) {
                return Ok(Arc::clone(connection));
            }
            // The old program goes before the new one comes: they may share a port.
            *held = None;
            let connection = Connection::open(&self.launch, limits).await?;
            let connection = Arc::new(connection);
            *held = Some(Arc::clone(&connection));
            Ok(connection)
        };
        // Calls queue here while one of them opens the connection.
        let within = limits.start.saturating_add(limits.stop.saturating_mul(2));
        timeout(within, opening)
            .await
            .unwrap_or(Err(McpError::Slow { after: within, stderr: String::new() }))
    }

    /// Gives a connection up over which a call was lost, unless the server only asks for
    /// patience or for a key.
    async fn lost(
        &self,
        connection: &Arc<Connection>,
        error: &ServiceError,
        repeatable: bool,
        limits: &McpLimits,
    ) -> Completion {
        let (class, hint) = classify(error);
        if class == FaultClass::Unavailable {
            let mut held = self.connection.lock().await;
            if held.as_ref().is_some_and(|held| Arc::ptr_eq(held, connection)) {
                *held = None;
            }
        }
        // A server that asks for patience or a key has done nothing.
        let repeatable = match class {
            FaultClass::RateLimited => true,
            FaultClass::Forbidden => false,
            _ => repeatable,
        };
        let stderr = connection.last_words(limits.stop).await;
        let stderr = self.launch.hide_end(&stderr);
        let why = McpError::Broken { why: self.launch.told(&reason(error)), stderr };
        let message = format!("lost the connection to the MCP server `{}`: {why}", self.name);
        fault(class, repeatable, hint, message)
    }
}
