//! Editors: agents served over the Agent Client Protocol, version 1.
//!
//! This module speaks that protocol. A session is a conversation with a run: its id is the run's,
//! everything in it is in the journal, and a client that disconnects leaves runs that can be
//! loaded again. The run's permissions decide what may run; the editor only asks its user.

mod display;
mod due;
mod error;
mod history;
mod permission;
mod prompt;
mod servers;
mod session;
mod sessions;
#[cfg(test)]
mod tests;
mod updates;

use std::{
    collections::BTreeMap,
    io,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use agent_client_protocol::{
    Agent, ConnectTo, Error, Stdio, on_receive_notification, on_receive_request,
    v1::schema::{
        CancelNotification, CloseSessionRequest, CloseSessionResponse, InitializeRequest,
        ListSessionsRequest, LoadSessionRequest, LoadSessionResponse, NewSessionRequest,
        NewSessionResponse, PromptRequest, ResumeSessionRequest, ResumeSessionResponse,
    },
};
use pointsman_kernel::{body::Body, governor::Permissions};
use pointsman_runtime::{engine::EngineConfig, session::Session};
use thiserror::Error as ThisError;

use {
    session::{AcpCommand, AcpSession},
    sessions::{blocking, greeting, stopped},
};

/// How much an editor is shown, and how long a session may take to detach.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct AcpLimits {
    /// Bytes of a tool's output.
    pub(crate) output: usize,
    /// Bytes of what a tool has put out last, while it runs.
    pub(crate) progress: usize,
    /// Bytes of each side of a change.
    pub(crate) diff: usize,
    /// Characters of a call's title.
    pub(crate) title: usize,
    /// Sessions on a page of the list.
    pub(crate) page: usize,
    /// How long a session may take to stop what it started.
    pub(crate) leave: Duration,
}

impl Default for AcpLimits {
    fn default() -> Self {
        Self {
            output: 16 * 1024,
            progress: 2 * 1024,
            diff: 256 * 1024,
            title: 120,
            page: 20,
            leave: Duration::from_secs(10),
        }
    }
}

/// Why an editor cannot be served any longer.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub(crate) enum AcpError {
    /// The connection to it failed.
    #[error("the connection to the editor failed: {0}")]
    Connection(Error),
    /// The program cannot listen for signals.
    #[error("the program cannot listen for signals: {0}")]
    Signals(#[from] io::Error),
}

/// What a session in a folder works with.
#[derive(Debug)]
pub(crate) struct SessionSetup {
    /// Its model, its tools and the folder's own servers.
    pub(crate) engine: EngineConfig,
    /// Permission rules. The editor's user is present, so they should be attended.
    pub(crate) permissions: Permissions,
    /// The agent's configuration.
    pub(crate) config: Body,
    /// The chart with the limits that hold in this folder, if they are others than usual.
    pub(crate) chart: Option<Box<str>>,
}

/// Why a session cannot be set up.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct AcpSetupError {
    /// The reason.
    pub(crate) why: String,
    /// What to do next.
    pub(crate) hint: Option<String>,
}

/// Says what sessions work with.
pub(crate) trait SessionFactory: Send + Sync {
    /// Returns what a session in this folder works with. It may block.
    fn set_up(&self, folder: &Path) -> Result<SessionSetup, AcpSetupError>;
}

impl<F> SessionFactory for F
where
    F: Fn(&Path) -> Result<SessionSetup, AcpSetupError> + Send + Sync,
{
    fn set_up(&self, folder: &Path) -> Result<SessionSetup, AcpSetupError> {
        self(folder)
    }
}

/// An agent that is served to an editor.
pub(crate) struct Service {
    session: Arc<Session>,
    set_up: Box<dyn SessionFactory>,
    /// The agent's chart.
    chart: Box<str>,
    limits: AcpLimits,
    rooms: Mutex<BTreeMap<Box<str>, AcpSession>>,
}

impl Service {
    /// Serves runs of a chart, which must be one that listens: `chat`'s or `code`'s.
    pub(crate) fn new(
        session: Arc<Session>,
        set_up: impl SessionFactory + 'static,
        chart: &str,
        limits: AcpLimits,
    ) -> Self {
        let (set_up, rooms) = (Box::new(set_up), Mutex::default());
        Self { session, set_up, chart: chart.into(), limits, rooms }
    }

    /// Serves on standard input and output, until the editor disconnects or the system asks the
    /// program to end. Then it detaches from every run.
    pub(crate) fn stdio(self) -> Result<(), AcpError> {
        let session = Arc::clone(&self.session);
        session.block_on(self.serve(Stdio::new()))
    }

    /// Serves over a transport. Call it on the session's threads, by
    /// [`block_on`](Session::block_on).
    pub(crate) async fn serve(
        self,
        transport: impl ConnectTo<Agent> + 'static,
    ) -> Result<(), AcpError> {
        let service = Arc::new(self);
        let served = tokio::select! {
            served = Arc::clone(&service).connect(transport) => served.map_err(AcpError::Connection),
            stopped = stopped() => stopped.map_err(AcpError::Signals),
        };
        let rooms = std::mem::take(&mut *service.rooms());
        let leaving = rooms.into_values().map(|room| room.leave(service.limits.leave));
        futures_util::future::join_all(leaving).await;
        served
    }

    #[expect(clippy::too_many_lines, reason = "one handler after the other, each of a few lines")]
    async fn connect(
        self: Arc<Self>,
        transport: impl ConnectTo<Agent> + 'static,
    ) -> Result<(), Error> {
        let our = || Arc::clone(&self);
        let (new, load, resume, list) = (our(), our(), our(), our());
        let (close, prompt, cancel) = (our(), our(), our());
        Agent
            .v1()
            .name("pointsman")
            .on_receive_request(
                async move |_: InitializeRequest, responder, _| responder.respond(greeting()),
                on_receive_request!(),
            )
            .on_receive_request(
                async move |request: NewSessionRequest, responder, connection| {
                    let service = Arc::clone(&new);
                    let to = connection.clone();
                    connection.spawn(async move {
                        let begun = service.begin(request.cwd, request.mcp_servers, to).await;
                        responder.respond_with_result(begun.map(NewSessionResponse::new))
                    })
                },
                on_receive_request!(),
            )
            .on_receive_request(
                async move |request: LoadSessionRequest, responder, connection| {
                    let service = Arc::clone(&load);
                    let to = connection.clone();
                    connection.spawn(async move {
                        let LoadSessionRequest { session_id, cwd, mcp_servers, .. } = request;
                        let joined =
                            service.resume_session(session_id, cwd, mcp_servers, to, true).await;
                        responder.respond_with_result(joined.map(|()| LoadSessionResponse::new()))
                    })
                },
                on_receive_request!(),
            )
            .on_receive_request(
                async move |request: ResumeSessionRequest, responder, connection| {
                    let service = Arc::clone(&resume);
                    let to = connection.clone();
                    connection.spawn(async move {
                        let ResumeSessionRequest { session_id, cwd, mcp_servers, .. } = request;
                        let joined =
                            service.resume_session(session_id, cwd, mcp_servers, to, false).await;
                        responder.respond_with_result(joined.map(|()| ResumeSessionResponse::new()))
                    })
                },
                on_receive_request!(),
            )
            .on_receive_request(
                async move |request: ListSessionsRequest, responder, connection| {
                    let service = Arc::clone(&list);
                    connection.spawn(async move {
                        let listed = blocking(move || {
                            let (cwd, cursor) = (request.cwd.as_deref(), request.cursor.as_deref());
                            history::sessions(&service.session, cwd, cursor, service.limits.page)
                        });
                        responder.respond_with_result(listed.await)
                    })
                },
                on_receive_request!(),
            )
            .on_receive_request(
                async move |request: CloseSessionRequest, responder, connection| {
                    let room = close.rooms().remove(&*request.session_id.0);
                    let limit = close.limits.leave;
                    connection.spawn(async move {
                        let Some(room) = room else {
                            return responder
                                .respond_with_error(error::no_session(&request.session_id.0));
                        };
                        room.leave(limit).await;
                        responder.respond(CloseSessionResponse::new())
                    })
                },
                on_receive_request!(),
            )
            .on_receive_request(
                async move |request: PromptRequest, responder, _| {
                    let text = match prompt::text(&request.prompt) {
                        Ok(text) => text,
                        Err(refused) => return responder.respond_with_error(refused),
                    };
                    let rooms = prompt.rooms();
                    let Some(room) = rooms.get(&*request.session_id.0) else {
                        let unknown = error::no_session(&request.session_id.0);
                        return responder.respond_with_error(unknown);
                    };
                    room.say(AcpCommand::Prompt(text, responder));
                    Ok(())
                },
                on_receive_request!(),
            )
            .on_receive_notification(
                async move |notification: CancelNotification, _| {
                    if let Some(room) = cancel.rooms().get(&*notification.session_id.0) {
                        room.say(AcpCommand::Cancel);
                    }
                    Ok(())
                },
                on_receive_notification!(),
            )
            .connect_to(transport)
            .await
    }

    fn rooms(&self) -> MutexGuard<'_, BTreeMap<Box<str>, AcpSession>> {
        // A panic leaves either a complete session here, or none.
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
