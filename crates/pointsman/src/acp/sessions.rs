//! How a session is entered: started, or resumed from its journal.

use std::{io, path::Path, path::PathBuf, sync::Arc};

use agent_client_protocol::{
    Client, Error,
    schema::ProtocolVersion,
    v1::{
        ConnectionTo,
        schema::{
            AgentCapabilities, Implementation, InitializeResponse, McpCapabilities, McpServer,
            Plan, PromptCapabilities, SessionCapabilities, SessionCloseCapabilities, SessionId,
            SessionListCapabilities, SessionNotification, SessionResumeCapabilities, SessionUpdate,
        },
    },
};
use pointsman_runtime::{
    local_executor::LocalExecutor,
    observe::{Log, Observer},
    session::StartOptions,
    store::RunId,
};
use tokio::{
    signal::unix::{SignalKind, signal},
    task::spawn_blocking,
};

use crate::drive::others;

use super::{
    AcpSetupError, Service, SessionSetup,
    display::CallDisplay,
    due::OpenTurns,
    error,
    history::{self, SessionHistory},
    servers,
    session::{self, AcpSessionParts},
    updates::UpdateBuilder,
};

/// Returns our answer to the editor's `initialize`.
pub(super) fn greeting() -> InitializeResponse {
    let sessions = SessionCapabilities::new()
        .list(SessionListCapabilities::new())
        .resume(SessionResumeCapabilities::new())
        .close(SessionCloseCapabilities::new());
    let capabilities = AgentCapabilities::new()
        .load_session(true)
        .prompt_capabilities(PromptCapabilities::new().embedded_context(true))
        .mcp_capabilities(McpCapabilities::new().http(true))
        .session_capabilities(sessions);
    let us =
        Implementation::new("pointsman", env!("CARGO_PKG_VERSION")).title("Pointsman".to_owned());
    InitializeResponse::new(ProtocolVersion::V1).agent_capabilities(capabilities).agent_info(us)
}

/// Waits until the system asks the program to end.
pub(super) async fn stopped() -> io::Result<()> {
    let mut interrupts = signal(SignalKind::interrupt())?;
    let mut terminations = signal(SignalKind::terminate())?;
    tokio::select! {
        _ = interrupts.recv() => Ok(()),
        _ = terminations.recv() => Ok(()),
    }
}

/// Does what blocks, on a thread for it.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    spawn_blocking(work).await.unwrap_or_else(|broken| Err(error::failed(&broken.to_string())))
}

/// A host, and what a person should know of it.
struct PreparedSession {
    executor: LocalExecutor,
    notes: Vec<String>,
    start: SessionSetup,
}

impl Service {
    /// Begins a session in a folder, and returns its id.
    pub(super) async fn begin(
        self: Arc<Self>,
        folder: PathBuf,
        mcp: Vec<McpServer>,
        connection: ConnectionTo<Client>,
    ) -> Result<SessionId, Error> {
        let service = Arc::clone(&self);
        let opening = blocking(move || {
            let PreparedSession { executor, notes, start } = service.set_up(&folder, mcp)?;
            let source = start.chart.unwrap_or_else(|| service.chart.clone());
            let verified = service.session.agents().verify(&source);
            let program = verified
                .map_err(|_| error::failed("internal error: the shipped chart is invalid"))?;
            let works = program.agent().plans();
            let start = StartOptions {
                program,
                source,
                config: start.config,
                goal: history::goal(&folder),
                words: Vec::new(),
                permissions: start.permissions,
                seed: None,
            };
            let (observer, notices) = session::listening();
            let mut observers: Vec<Arc<dyn Observer>> = vec![Arc::new(Log), observer];
            observers.extend(others());
            let begun = service.session.converse(&executor, start, observers);
            Ok(AcpSessionParts {
                session: Arc::clone(&service.session),
                conversation: begun.map_err(|error| error::session(&error))?,
                notices,
                connection,
                teller: UpdateBuilder::new(CallDisplay::open(
                    &folder,
                    &service.limits,
                    executor.tools().toolbox(),
                )),
                due: OpenTurns::default(),
                works,
                plan: Vec::new(),
                notes,
            })
        });
        Ok(self.enter(opening.await?))
    }

    /// Resumes a session. Its conversation is sent again if the editor requests that.
    pub(super) async fn resume_session(
        self: Arc<Self>,
        id: SessionId,
        folder: PathBuf,
        mcp: Vec<McpServer>,
        connection: ConnectionTo<Client>,
        tells: bool,
    ) -> Result<(), Error> {
        let run: RunId = id.0.parse().map_err(|_| error::no_session(&id.0))?;
        // An editor that has it open already starts over.
        let open = self.rooms().remove(run.as_str());
        if let Some(room) = open {
            room.leave(self.limits.leave).await;
        }
        let service = Arc::clone(&self);
        let opening = blocking(move || {
            let failed = |error| error::session(&error);
            let session = &service.session;
            let told = UpdateBuilder::new(CallDisplay::past(&folder, &service.limits));
            let past = history::recount(session, &run, told).map_err(failed)?;
            let SessionHistory { updates, teller, due, agent, plan } = past;
            if !agent.converses() {
                let why = format!("run {run} is a run of `{}`, not a conversation", agent.name);
                return Err(error::bad_params(&why));
            }
            let PreparedSession { executor, notes, .. } = service.set_up(&folder, mcp)?;
            let (observer, notices) = session::listening();
            let mut observers: Vec<Arc<dyn Observer>> = vec![Arc::new(Log), observer];
            observers.extend(others());
            let conversation =
                session.resume_conversation(&executor, &run, observers).map_err(failed)?;
            if tells {
                let plan = (!plan.is_empty()).then(|| SessionUpdate::Plan(Plan::new(plan.clone())));
                for update in updates.into_iter().chain(plan) {
                    connection.send_notification(SessionNotification::new(id.clone(), update))?;
                }
            }
            Ok(AcpSessionParts {
                session: Arc::clone(session),
                conversation,
                notices,
                connection,
                teller: teller.at(CallDisplay::open(
                    &folder,
                    &service.limits,
                    executor.tools().toolbox(),
                )),
                due,
                works: agent.plans(),
                plan,
                notes,
            })
        });
        self.enter(opening.await?);
        Ok(())
    }

    fn enter(&self, opening: AcpSessionParts) -> SessionId {
        let id = opening.conversation.run().as_str().to_owned();
        let room = session::open(opening);
        self.rooms().insert(id.as_str().into(), room);
        SessionId::new(id)
    }

    /// Sets up what a session works with.
    fn set_up(&self, folder: &Path, mcp: Vec<McpServer>) -> Result<PreparedSession, Error> {
        let shown = folder.display();
        if !folder.is_absolute() {
            let why = format!("`cwd` must be an absolute path, not `{shown}`");
            return Err(error::bad_params(&why));
        }
        if !folder.is_dir() {
            return Err(error::bad_params(&format!("`cwd` must be a folder, and {shown} is not")));
        }
        let set_up = self.set_up.set_up(folder);
        let mut start =
            set_up.map_err(|AcpSetupError { why, hint }| error::hinted(&why, hint.as_deref()))?;
        start.engine.mcp = servers::with(start.engine.mcp.take(), folder, mcp)?;
        let executor = self.session.executor(start.engine.clone());
        let executor = executor.map_err(|error| error::session(&error))?;
        let note = |(name, why): &(String, _)| format!("MCP server {name}: {why}");
        let notes = executor.refused().iter().map(note).collect();
        Ok(PreparedSession { executor, notes, start })
    }
}
