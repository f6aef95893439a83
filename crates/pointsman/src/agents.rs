//! The agents that this program runs, with what carries out their tasks: the only list of them.

use std::{
    path::Path,
    sync::{Arc, LazyLock},
};

use pointsman_agents::{explore::ExploreAgent, form::FormAgent};
use pointsman_kernel::agents::Agents;
use pointsman_runtime::{
    config::Config,
    engine::EngineConfig,
    executor::Executors,
    session::{Session, SessionError},
    store::{RunId, Store},
    tool::{self, Tool, Toolbox, sandbox::OWN_PROGRAM},
};
use pointsman_webdriver::{
    explore::Devices,
    form::{self, Forms, SubmitTool},
    settings,
};

/// The agents, with their charts and the tools that charts may name.
pub(crate) static AGENTS: LazyLock<Agents> = LazyLock::new(pointsman_agents::all);

/// Returns the tools as they are described and offered; those of a browser send nothing yet.
pub(crate) fn toolbox() -> Toolbox {
    with(&Toolbox::default(), SubmitTool::default())
}

/// Gives tools what this program has: all that ship, and itself as the helper of the sandbox.
pub(crate) fn equipped(mut tools: tool::ToolSettings) -> tool::ToolSettings {
    tools.toolbox = toolbox();
    tools.sandbox.helper = Some(OWN_PROGRAM.into());
    tools
}

/// Gives an engine the executors of the agents that act on browsers and devices, and returns the
/// one that fills forms.
pub(crate) fn register(
    engine: &mut EngineConfig,
    journal: &Path,
    store: &Arc<dyn Store>,
    config: &Config,
) -> Forms {
    let forms = Forms::new(settings::browser(&config.form), journal, Arc::clone(store));
    let devices = Devices::new(settings::device(&config.explore), journal, Arc::clone(store));
    engine.tools.toolbox = with(&engine.tools.toolbox, SubmitTool::over(forms.clone()));
    engine.executors =
        Executors::default().with::<FormAgent>(forms.clone()).with::<ExploreAgent>(devices);
    forms
}

fn with(tools: &Toolbox, submit: SubmitTool) -> Toolbox {
    tools.with([Arc::new(submit) as Arc<dyn Tool>])
}

/// Ends what a run has left behind that has ended, unless a process drives it.
pub(crate) fn forget(session: &Session, run: &RunId) -> Result<(), SessionError> {
    if session.block_on(session.store().claim(run))?.is_some() {
        form::forget(session.journal(), run);
    }
    Ok(())
}

/// The same for runs of which some may not have ended: the owner of a run cancels it later.
pub(crate) fn forget_ended<'r>(session: &Session, runs: impl IntoIterator<Item = &'r RunId>) {
    for run in runs.into_iter().filter(|run| form::has_remains(session.journal(), run)) {
        let row = session.block_on(session.store().run(run)).map_err(SessionError::from);
        let forgotten = row.and_then(|row| match row.ended {
            Some(_) => forget(session, run),
            None => Ok(()),
        });
        // The other runs must not keep theirs.
        if let Err(error) = forgotten {
            tracing::warn!(%run, %error, "private data could not be removed");
        }
    }
}

/// Removes the files beside the journal of removed runs.
pub(crate) fn remove<'r>(session: &Session, runs: impl IntoIterator<Item = &'r RunId>) {
    for run in runs {
        pointsman_webdriver::remove(session.journal(), run);
    }
}
