//! The form agent's tasks, carried out in the browser of its run: one for each run, started
//! when it is first needed.
//!
//! A person's values go from the profile's file into the page. The journal records the actions,
//! and values only if the run's configuration says so.

mod error;
mod press;
mod redaction;
mod secrets;
mod session;
mod submit;
mod value;
mod vault;

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use pointsman_agents::form::{FormAgent, FormReport, FormTask};
use pointsman_kernel::{
    agent::{Answer, Fault, FaultClass, ToolCall},
    body::Body,
    chart::Disposition,
};
use pointsman_runtime::{
    effect::{CleanupFuture, Completion, EffectFuture, Permit, ProgressSink},
    executor::{Executor, TaskFuture},
    model::{Model, ModelRequest},
    store::{RunId, Store},
};

use crate::browser;
use error::TaskError;
use session::BrowserSession;
pub use submit::SubmitTool;

/// The browsers of runs, and their stored files: the executor of `form`. Copies share them.
#[derive(Clone)]
pub struct Forms(Arc<Inner>);

struct Inner {
    browser: browser::BrowserSettings,
    /// Where records of browsers, private texts and pictures are kept.
    folder: PathBuf,
    store: Arc<dyn Store>,
    rooms: Mutex<BTreeMap<RunId, Arc<BrowserSession>>>,
    /// What happened to the browsers of runs that ended without sending their form.
    left: Mutex<BTreeMap<RunId, browser::BrowserExit>>,
}

impl Forms {
    /// Fills forms in such a browser, for runs in these journals. A run's files are stored beside
    /// the journal's file.
    pub fn new(browser: browser::BrowserSettings, journal: &Path, store: Arc<dyn Store>) -> Self {
        let folder = beside(journal);
        let (rooms, left) = (Mutex::default(), Mutex::default());
        Self(Arc::new(Inner { browser, folder, store, rooms, left }))
    }

    /// Sends the form: the agent's own call, which a person or a rule has let through.
    async fn submit(&self, permit: &Permit, call: &ToolCall) -> Completion {
        let room = match self.room(&permit.run).await {
            Ok(room) => room,
            Err(trouble) => return failed(&trouble),
        };
        match room.submit(call.arguments.get(), permit).await {
            Ok((ok, says)) => Completion::tool(ok, &says),
            Err(trouble) => Completion::failed(room.tell(trouble).await),
        }
    }

    /// Returns, once, what happened to the browser of a run that ended without sending its form;
    /// nothing for another program's browser.
    pub fn left(&self, run: &RunId) -> Option<browser::BrowserExit> {
        self.0.left.lock().unwrap_or_else(PoisonError::into_inner).remove(run)
    }

    async fn room(&self, run: &RunId) -> Result<Arc<BrowserSession>, TaskError> {
        let rooms = || self.0.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(room) = rooms().get(run) {
            return Ok(Arc::clone(room));
        }
        let room =
            BrowserSession::new(&self.0.browser, &self.0.folder, &*self.0.store, run).await?;
        // Two tasks of one run may have come for it at once.
        Ok(Arc::clone(rooms().entry(run.clone()).or_insert_with(|| Arc::new(room))))
    }
}

impl Executor<FormAgent> for Forms {
    fn perform(&self, permit: Permit, task: FormTask) -> TaskFuture<FormReport> {
        let forms = self.clone();
        Box::pin(async move {
            let room = forms.room(&permit.run).await.map_err(|trouble| Fault::from(&trouble))?;
            match room.perform(task, &permit).await {
                Ok(report) => Ok(report.into()),
                Err(trouble) => Err(room.tell(trouble).await),
            }
        })
    }

    fn ask(
        &self,
        permit: &Permit,
        question: ModelRequest,
        model: &Model,
        shown: ProgressSink,
    ) -> EffectFuture {
        let vault = vault::Vault::new(&self.0.folder, &permit.run);
        Box::pin(ask(model.clone(), vault, question, shown))
    }

    /// Ends what was kept for a run that has ended. A browser with a window is left to the
    /// person, unless the form was sent or they broke off.
    fn ended(&self, run: &RunId, how: Disposition) -> CleanupFuture {
        let (forms, run) = (self.clone(), run.clone());
        Box::pin(async move {
            let room = forms.0.rooms.lock().unwrap_or_else(PoisonError::into_inner).remove(&run);
            if let Some(room) = room
                && let Some(left) = room.end(how != Disposition::Cancelled).await
            {
                forms
                    .0
                    .left
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .insert(run.clone(), left);
            }
            // The run may have ended before this process had anything to do in its browser.
            clean(&forms.0.folder, &run);
        })
    }
}

/// Returns the folder beside a journal for browsers and texts.
fn beside(journal: &Path) -> PathBuf {
    journal.parent().unwrap_or_else(|| Path::new(".")).join("forms")
}

/// Returns the folder beside a journal for a run's screenshots.
pub fn pictures(journal: &Path, run: &RunId) -> PathBuf {
    session::pictures(&beside(journal), run)
}

/// Returns whether a run has private texts or a browser.
pub fn has_remains(journal: &Path, run: &RunId) -> bool {
    let folder = beside(journal);
    session::record(&folder, run).exists() || vault::Vault::new(&folder, run).exists()
}

/// Removes the remains of an ended run without an owner.
pub fn forget(journal: &Path, run: &RunId) {
    clean(&beside(journal), run);
}

fn clean(folder: &Path, run: &RunId) {
    browser::end_left(&session::record(folder, run));
    vault::Vault::new(folder, run).remove();
}

/// Removes all that is kept for a run that is itself removed, its pictures included.
pub(crate) fn remove(journal: &Path, run: &RunId) {
    forget(journal, run);
    let pictures = pictures(journal, run);
    match fs::remove_dir_all(&pictures) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(%error, folder = %pictures.display(), "screenshots could not be removed");
        }
        _ => {}
    }
}

/// Asks a model a question with the person's facts, which no stored prompt has: only those for the
/// field of the question. If the run keeps texts out of the journal, the reply is stored in the
/// vault.
async fn ask(
    model: Model,
    vault: vault::Vault,
    mut question: ModelRequest,
    shown: ProgressSink,
) -> Completion {
    let Some(private) = question.prompt.private.take() else {
        return model.ask(question, shown).await;
    };
    if !private.file.is_empty() {
        match value::facts(Path::new(&private.file), &private.about) {
            Ok(facts) => question.prompt.system.push_str(&facts),
            Err(trouble) => return failed(&trouble),
        }
    }
    if !private.redact {
        return model.ask(question, shown).await;
    }
    // An observer could store the text while it is written.
    let mut done = model.ask(question, ProgressSink::none()).await;
    withhold(&mut done.answer);
    if let Answer::Model(reply) = &mut done.answer
        && !reply.text.trim().is_empty()
    {
        match vault.keep(&reply.text) {
            Ok(token) => reply.text = token,
            Err(error) => return failed(&TaskError::Vault(error)),
        }
    }
    done
}

/// Removes parts of a reply that could quote the person's facts and are not needed: calls, which
/// the agent ignores, and the description of an unusable reply.
fn withhold(answer: &mut Answer<Body>) {
    match answer {
        Answer::Model(reply) => reply.calls.clear(),
        Answer::Fault(fault)
            if matches!(fault.class, FaultClass::Invalid | FaultClass::Contract) =>
        {
            let told = "the model's reply cannot be used; its text is kept out of the journal";
            fault.message = told.into();
        }
        _ => {}
    }
}

fn failed(trouble: &TaskError) -> Completion {
    Completion::failed(Fault::from(trouble))
}

#[cfg(test)]
mod tests {
    use pointsman_kernel::agent::Reply;

    use super::*;

    #[test]
    fn parts_that_could_quote_facts_are_withheld() {
        let arguments = Body::canonical(&"secret".into()).into();
        let call = ToolCall { id: "1".into(), tool: "read".into(), arguments };
        let mut reply = Answer::Model(Reply { text: "t".into(), calls: vec![call] });
        withhold(&mut reply);
        assert!(
            matches!(reply, Answer::Model(reply) if reply.text == "t" && reply.calls.is_empty())
        );
        let fault = |class: FaultClass| {
            let mut done = Completion::fault(class, false, "it says: secret");
            withhold(&mut done.answer);
            format!("{:?}", done.answer)
        };
        assert!(!fault(FaultClass::Invalid).contains("secret"));
        assert!(!fault(FaultClass::Contract).contains("secret"));
        // Where a server cannot be reached, that is all there is to say.
        assert!(fault(FaultClass::Unavailable).contains("secret"));
    }
}
