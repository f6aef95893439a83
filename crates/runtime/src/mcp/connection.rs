//! A connection to one server: opened, asked for its tools, called, and closed.

use std::{error::Error, time::Duration};

use rmcp::{
    ClientHandler, RoleClient, ServiceError, ServiceExt,
    model::{
        CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig, Implementation,
        JsonObject, PaginatedRequestParams, Tool,
    },
    service::{ClientInitializeError, RunningService},
    transport::{
        DynamicTransportError, IntoTransport, StreamableHttpClientTransport,
        async_rw::AsyncRwTransport,
        streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError},
    },
};
use tokio::time::timeout;

use super::{
    McpError, McpLimits,
    launch::{By, Launch},
    process::{Process, Start},
};

/// A connection. Dropping it ends the requests and kills the program behind it.
#[derive(Debug)]
pub(super) struct Connection {
    service: RunningService<RoleClient, Client>,
    process: Option<Process>,
}

/// Our side of the protocol. It offers servers nothing: no files, no model, no person.
#[derive(Debug)]
struct Client;

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("pointsman", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), us)
    }
}

impl Connection {
    /// Starts a server and greets it.
    pub(super) async fn open(launch: &Launch, limits: &McpLimits) -> Result<Self, McpError> {
        match &launch.by {
            By::Program { program, args, env, cwd } => {
                let start = Start { program, args, env, cwd, stderr: limits.stderr };
                let (process, stdout, stdin) = Process::start(&start)?;
                let transport = AsyncRwTransport::new_client(stdout, stdin)
                    .with_max_line_length(limits.message);
                match greet(transport, limits.start).await {
                    Ok(service) => Ok(Self { service, process: Some(process) }),
                    Err(error) => {
                        let stderr = launch.hide_end(&process.last_words(limits.stop).await);
                        Err(error.told(launch, stderr))
                    }
                }
            }
            By::Address { url, headers } => {
                let http = http(limits)
                    .map_err(|why| ConnectionTrouble::Broken(why).told(launch, String::new()))?;
                let config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
                    .custom_headers(headers.clone())
                    .max_sse_event_size(limits.message)
                    .control_request_timeout(limits.stop)
                    .session_recovery_timeout(limits.start);
                let transport = StreamableHttpClientTransport::with_client(http, config);
                let greeted = greet(transport, limits.start).await;
                let service = greeted.map_err(|error| error.told(launch, String::new()))?;
                Ok(Self { service, process: None })
            }
        }
    }

    /// Returns the server's tools, page by page, and whether there were more than fit.
    pub(super) async fn tools(
        &self,
        launch: &Launch,
        limits: &McpLimits,
    ) -> Result<(Vec<Tool>, bool), McpError> {
        let pages = async {
            let (mut tools, mut cursor) = (Vec::new(), None);
            for _ in 0..limits.pages {
                let page = PaginatedRequestParams::default().with_cursor(cursor);
                let page = self.service.list_tools(Some(page)).await?;
                tools.extend(page.tools);
                cursor = page.next_cursor;
                if cursor.is_none() || tools.len() > limits.tools {
                    break;
                }
            }
            let more = cursor.is_some() || tools.len() > limits.tools;
            tools.truncate(limits.tools);
            Ok((tools, more))
        };
        let trouble = match timeout(limits.start, pages).await {
            Ok(Ok(tools)) => return Ok(tools),
            Ok(Err(error)) => ConnectionTrouble::Broken(format!(
                "it failed to list its tools: {}",
                reason(&error)
            )),
            Err(_) => ConnectionTrouble::Slow(limits.start),
        };
        Err(trouble.told(launch, launch.hide_end(&self.last_words(limits.stop).await)))
    }

    /// Calls a tool by the server's own name for it. Dropping the future cancels the call.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: JsonObject,
    ) -> Result<CallToolResponse, ServiceError> {
        let call = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        self.service.call_tool_once(call).await
    }

    /// Returns whether nothing can be sent over it.
    pub(super) fn is_dead(&self) -> bool {
        self.service.is_closed() || self.service.is_transport_closed()
    }

    /// Returns the end of the program's stderr, once it is closed or the time is over; empty for a
    /// server behind an address.
    pub(super) async fn last_words(&self, within: Duration) -> String {
        match &self.process {
            Some(process) => process.last_words(within).await,
            None => String::new(),
        }
    }

    /// Closes the connection and gives the program time to stop on its own.
    pub(super) async fn close(mut self, within: Duration) {
        if let Err(error) = self.service.close_with_timeout(within).await {
            tracing::debug!(%error, "closing an MCP connection");
        }
        if let Some(process) = &self.process
            && !process.ended(within).await
        {
            tracing::debug!("an MCP server did not stop by itself and was killed");
        }
    }
}

/// Why a server could not be greeted, before its last words are known.
enum ConnectionTrouble {
    Broken(String),
    Slow(Duration),
}

impl ConnectionTrouble {
    fn told(self, launch: &Launch, stderr: String) -> McpError {
        match self {
            Self::Broken(why) => McpError::Broken { why: launch.told(&why), stderr },
            Self::Slow(after) => McpError::Slow { after, stderr },
        }
    }
}

async fn greet<T, E, A>(
    transport: T,
    within: Duration,
) -> Result<RunningService<RoleClient, Client>, ConnectionTrouble>
where
    T: IntoTransport<RoleClient, E, A>,
    E: Error + Send + Sync + 'static,
{
    match timeout(within, Client.serve(transport)).await {
        Ok(Ok(service)) => Ok(service),
        Ok(Err(error)) => {
            let why = match &error {
                ClientInitializeError::TransportError { error, .. } => cause(error),
                ClientInitializeError::ConnectionClosed(_) => "it closed the connection".into(),
                error => chain(error),
            };
            Err(ConnectionTrouble::Broken(format!("the connection failed: {why}")))
        }
        Err(_) => Err(ConnectionTrouble::Slow(within)),
    }
}

/// Makes a client that goes where it is sent and nowhere else: a redirection would carry
/// the headers of one server to another.
fn http(limits: &McpLimits) -> Result<reqwest::Client, String> {
    if rustls::crypto::ring::default_provider().install_default().is_err() {
        tracing::trace!("a TLS crypto provider is already installed");
    }
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(limits.connect)
        .build()
        .map_err(|error| chain(&error))
}

/// Says why a request failed.
pub(super) fn reason(error: &ServiceError) -> String {
    match error {
        ServiceError::TransportSend(error) => cause(error),
        ServiceError::TransportClosed => "it closed the connection".into(),
        error => chain(error),
    }
}

/// Says what a transport reports, without the names of its types.
fn cause(error: &DynamicTransportError) -> String {
    match error.error.downcast_ref() {
        Some(StreamableHttpError::<reqwest::Error>::Client(error)) => chain(error),
        _ => chain(error.error.as_ref()),
    }
}

/// Formats an error with its causes, each once. Callers hide secrets and cut it before they show
/// it.
fn chain(error: &(dyn Error + 'static)) -> String {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !said.contains(&more) {
            said.push_str(": ");
            said.push_str(&more);
        }
        cause = error.source();
    }
    said
}
