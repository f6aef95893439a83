//! Dying on purpose: tests kill the program at a certain moment, to see what is lost.
//!
//! Only in builds with debug assertions. `POINTSMAN_DIE_AT=persisted:3` kills it when
//! entry 3 is on disk, `attempted:3` when an effect of entry 3 is about to be started.

use pointsman_runtime::{
    observe::{LiveNotice, Notice, Observer},
    store::RunId,
    timeline::TimelineKind,
};
use rustix::process::{Signal, getpid, kill_process};

/// When to die.
pub(crate) struct CrashPoint {
    attempted: bool,
    entry: u64,
}

impl CrashPoint {
    /// Reads the moment from the environment; nothing if there is none.
    pub(crate) fn from_env() -> Option<Self> {
        let text = crate::paths::variable("POINTSMAN_DIE_AT")?;
        let (moment, entry) = text.split_once(':')?;
        let attempted = match moment {
            "attempted" => true,
            "persisted" => false,
            _ => return None,
        };
        Some(Self { attempted, entry: entry.parse().ok()? })
    }
}

impl Observer for CrashPoint {
    fn notice(&self, _: &RunId, notice: &Notice) {
        let now = match notice {
            Notice::Live(LiveNotice::Persisted { seq, .. }) => {
                !self.attempted && seq.0 == self.entry
            }
            Notice::Item(item) => match item.kind {
                TimelineKind::Started { effect, .. } => {
                    self.attempted && effect.seq.0 == self.entry
                }
                _ => false,
            },
            Notice::Live(_) => false,
        };
        // Nothing runs after it: no destructor, no flush.
        if now && kill_process(getpid(), Signal::KILL).is_err() {
            std::process::abort();
        }
    }
}
