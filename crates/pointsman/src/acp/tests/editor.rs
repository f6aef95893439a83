//! An editor for tests: the protocol's own client, in the same process, and a model that
//! answers from a script.

use std::{
    collections::VecDeque,
    fmt::Write as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use agent_client_protocol::{
    Agent, Channel, Client, Error, on_receive_notification, on_receive_request,
    schema::ProtocolVersion,
    v1::{
        ConnectionTo,
        schema::{
            CancelNotification, ContentBlock, InitializeRequest, NewSessionRequest, PromptRequest,
            RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse,
            SelectedPermissionOutcome, SessionId, SessionNotification, SessionUpdate, StopReason,
            TextContent, ToolCallContent,
        },
    },
};
use pointsman_kernel::governor::{Level, Permissions};
use pointsman_runtime::{
    engine::EngineConfig,
    model::{self, Spec},
    session::Session,
    tool,
};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::acp::{AcpLimits, AcpSetupError, Service, SessionSetup};

/// How long something may take that should come at once.
const SOON: Duration = Duration::from_secs(30);

/// A folder that is removed again.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let process = std::process::id();
        let path = std::env::temp_dir().join(format!("pointsman-acp-{name}-{process}"));
        drop(std::fs::remove_dir_all(&path));
        std::fs::create_dir_all(path.join("work")).expect("the folder can be made");
        Self(path)
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.0.join("deep/journal.db")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// A folder with a workspace, a journal and a script.
pub(crate) struct Desk {
    pub(crate) folder: Folder,
    pub(crate) config: Value,
}

impl Desk {
    pub(crate) fn new(name: &str, script: &str) -> Self {
        let desk = Self { folder: Folder::new(name), config: json!({}) };
        desk.script(script);
        desk
    }

    pub(crate) fn script(&self, script: &str) {
        std::fs::write(self.folder.0.join("script.toml"), script).expect("the file is written");
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.folder.0.join("work")
    }

    pub(crate) fn session(&self) -> Arc<Session> {
        let session = Session::open(
            pointsman_agents::all(),
            &self.folder.journal(),
            &self.folder.0.join("cache"),
        );
        Arc::new(session.unwrap_or_else(|error| panic!("it opens: {error}")))
    }

    /// Simulates a new process: journals, a service, an editor. It returns when the editor has
    /// disconnected and every session is detached.
    pub(crate) fn edit(
        &self,
        chart: &str,
        answers: &[&'static str],
        test: impl AsyncFnOnce(Editor),
    ) {
        let session = self.session();
        let service = self.service(Arc::clone(&session), chart);
        session.block_on(async {
            let (ours, theirs) = Channel::duplex();
            let all = async { tokio::join!(service.serve(theirs), edited(ours, answers, test)) };
            let (served, edited) =
                tokio::time::timeout(SOON, all).await.expect("the event comes before the timeout");
            // An editor may be gone before the last update is sent to it.
            if let Err(error) = served {
                let told = format!("{error:?}");
                assert!(told.contains("receiver is gone"), "it is served to the end: {told}");
            }
            edited.expect("the editor gets to its end");
        });
    }

    fn service(&self, session: Arc<Session>, chart: &str) -> Service {
        let (index, root) = (self.folder.0.join("index.db"), self.folder.0.clone());
        let config = self.config.clone();
        let set_up = move |folder: &Path| {
            if folder.join("locked").exists() {
                let hint = Some("unlock it".into());
                return Err(AcpSetupError { why: "the folder is locked".into(), hint });
            }
            let script = format!("script:{}", root.join("script.toml").display());
            let spec: Spec = script.parse().expect("the text names a model");
            let tools = tool::ToolSettings::over(folder, index.clone());
            let engine = EngineConfig::new(model::ModelSettings::new(spec), tools);
            let permissions =
                Permissions { otherwise: Level::Ask, rules: Vec::new(), attended: true };
            Ok(SessionSetup { engine, permissions, config: config.clone().into(), chart: None })
        };
        Service::new(session, set_up, chart, AcpLimits::default())
    }
}

async fn edited(
    transport: Channel,
    answers: &[&'static str],
    test: impl AsyncFnOnce(Editor),
) -> Result<(), Error> {
    let seen = Arc::new(Seen::default());
    let answers: Mutex<VecDeque<&'static str>> = Mutex::new(answers.iter().copied().collect());
    let (updates, asked) = (Arc::clone(&seen), Arc::clone(&seen));
    Client
        .v1()
        .on_receive_notification(
            async move |update: SessionNotification, _| {
                updates.add(&shown(&update.update));
                Ok(())
            },
            on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: RequestPermissionRequest, responder, _| {
                let id = &request.tool_call.tool_call_id.0;
                let title = request.tool_call.fields.title.unwrap_or_default();
                asked.add(&format!("? {id} {title}\n"));
                let answer =
                    answers.lock().expect("no thread panicked while it held the lock").pop_front();
                let outcome = match answer {
                    Some("dismiss") => RequestPermissionOutcome::Cancelled,
                    Some(answer) => {
                        let offered = request.options.iter().any(|it| &*it.option_id.0 == answer);
                        assert!(offered, "{answer} is no choice");
                        RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(answer))
                    }
                    // It is never answered, and shown until it is taken back.
                    None => {
                        let (id, asked) = (Arc::clone(id), Arc::clone(&asked));
                        tokio::spawn(async move {
                            responder.cancellation().cancelled().await;
                            asked.add(&format!("taken back {id}\n"));
                            responder.respond_with_error(Error::request_cancelled())
                        });
                        return Ok(());
                    }
                };
                responder.respond(RequestPermissionResponse::new(outcome))
            },
            on_receive_request!(),
        )
        .connect_with(transport, async move |connection| {
            let greeting = InitializeRequest::new(ProtocolVersion::V1);
            let greeted = connection.send_request(greeting).block_task().await?;
            assert_eq!(greeted.protocol_version, ProtocolVersion::V1);
            assert!(greeted.agent_capabilities.load_session);
            test(Editor { connection, seen }).await;
            Ok(())
        })
        .await
}

/// What was shown, line by line.
#[derive(Default)]
struct Seen {
    text: Mutex<String>,
    more: Notify,
}

impl Seen {
    fn add(&self, text: &str) {
        self.text.lock().expect("no thread panicked while it held the lock").push_str(text);
        self.more.notify_one();
    }
}

/// The editor, as a test uses it.
pub(crate) struct Editor {
    pub(crate) connection: ConnectionTo<Agent>,
    seen: Arc<Seen>,
}

impl Editor {
    pub(crate) async fn begin(&self, folder: &Path) -> Result<SessionId, Error> {
        let request = NewSessionRequest::new(folder);
        Ok(self.connection.send_request(request).block_task().await?.session_id)
    }

    pub(crate) async fn prompt(&self, id: &SessionId, text: &str) -> Result<StopReason, Error> {
        Ok(self.connection.send_request(said(id, text)).block_task().await?.stop_reason)
    }

    /// Says something and does not wait for the answer, nor take it back.
    pub(crate) fn say(&self, id: &SessionId, text: &str) {
        self.connection.send_request(said(id, text)).detach();
    }

    pub(crate) fn cancel(&self, id: &SessionId) {
        let cancel = CancelNotification::new(id.clone());
        self.connection.send_notification(cancel).expect("it is sent");
    }

    /// Waits until something was shown.
    pub(crate) async fn until(&self, wanted: &str) {
        while !self
            .seen
            .text
            .lock()
            .expect("no thread panicked while it held the lock")
            .contains(wanted)
        {
            self.seen.more.notified().await;
        }
    }

    /// Returns what was shown since the last time, without what differs from run to run.
    pub(crate) fn shown(&self) -> String {
        std::mem::take(
            &mut *self.seen.text.lock().expect("no thread panicked while it held the lock"),
        )
    }
}

fn said(id: &SessionId, text: &str) -> PromptRequest {
    PromptRequest::new(id.clone(), vec![ContentBlock::Text(TextContent::new(text))])
}

/// Returns an update in a line.
fn shown(update: &SessionUpdate) -> String {
    let text = |block: &ContentBlock| match block {
        ContentBlock::Text(text) => text.text.clone(),
        other => format!("{other:?}"),
    };
    let contents = |contents: &[ToolCallContent]| {
        contents.iter().fold(String::new(), |mut all, content| {
            match content {
                ToolCallContent::Content(content) => write!(all, " | {:?}", text(&content.content)),
                ToolCallContent::Diff(diff) => {
                    write!(all, " | {:?} -> {:?}", diff.old_text, diff.new_text)
                }
                other => write!(all, " | {other:?}"),
            }
            .expect("it is written");
            all
        })
    };
    match update {
        SessionUpdate::UserMessageChunk(chunk) => format!("user {:?}\n", text(&chunk.content)),
        SessionUpdate::AgentMessageChunk(chunk) => format!("agent {:?}\n", text(&chunk.content)),
        SessionUpdate::AgentThoughtChunk(chunk) => format!("thought {:?}\n", text(&chunk.content)),
        SessionUpdate::ToolCall(call) => {
            let (id, title, content) = (&call.tool_call_id.0, &call.title, contents(&call.content));
            format!("+ {id} {title} ({:?}, {:?}){content}\n", call.kind, call.status)
        }
        SessionUpdate::ToolCallUpdate(update) => {
            let (id, fields) = (&update.tool_call_id.0, &update.fields);
            let status = fields.status.expect("it has one");
            let content = fields.content.as_deref().map(contents).unwrap_or_default();
            format!("= {id} {status:?}{content}\n")
        }
        SessionUpdate::Plan(plan) => {
            let entries = plan.entries.iter().map(|it| format!("{} {:?}", it.content, it.status));
            format!("plan {}\n", entries.collect::<Vec<_>>().join(", "))
        }
        other => format!("{other:?}\n"),
    }
}
