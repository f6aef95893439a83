//! What was said in a run, for whoever comes back to it.

use pointsman_agents::{
    code::Plan,
    transcript::{Message, Transcript},
};
use serde::Deserialize;
use serde_json::Value;

use super::{Recalled, Session, SessionError};
use crate::{driver::listens, store::RunId};

/// What conversations of all agents have in common.
#[derive(Default, Deserialize)]
struct Kept {
    data: Data,
}

#[derive(Default, Deserialize)]
struct Data {
    #[serde(default)]
    transcript: Transcript,
    #[serde(default)]
    plan: Option<Plan>,
}

impl Recalled {
    fn kept(&self) -> Kept {
        let snapshot = self.loaded.run.snapshot().ok();
        // An agent that holds no conversation has said nothing.
        snapshot.and_then(|run| serde_json::from_str(run.get()).ok()).unwrap_or_default()
    }

    /// Returns the conversation, the oldest message first; empty for agents that hold none.
    pub fn messages(&self) -> Vec<Message> {
        self.kept().data.transcript.messages().to_vec()
    }

    /// Returns the plan and how far it came, for agents that have one.
    pub fn plan(&self) -> Option<Plan> {
        self.kept().data.plan.filter(|plan| !plan.phases.is_empty())
    }

    /// Returns whether the run is in a state that waits for a word from outside.
    pub fn listens(&self) -> bool {
        listens(&self.chart, self.loaded.run.core())
    }
}

impl Session {
    /// Returns what was said to a run and not yet heard, the oldest first.
    pub fn unheard(&self, id: &RunId) -> Result<Vec<String>, SessionError> {
        let letters = self.store.letters(id)?;
        let said = letters.iter().filter_map(|letter| {
            let event: Value = serde_json::from_str(&letter.body).ok()?;
            Some(event.pointer("/given/body/text")?.as_str()?.to_owned())
        });
        Ok(said.collect())
    }
}
