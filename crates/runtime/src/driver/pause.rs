//! Pauses: who has paused a run, and who may let it go on.
//!
//! The kernel knows only that starts are stopped. What a person has paused goes on when a
//! person says so; the watch over the machine, and the parent of a child run, let only that
//! go on which they have paused themselves.

use pointsman_kernel::{body::Body, event::Event};

use super::{DriveError, Driver};
use crate::watch::Call;

impl Driver {
    /// Returns whether a person has paused it.
    pub(crate) const fn is_held(&self) -> bool {
        self.held
    }

    /// Does what the watch or a parent asks for; what a person has paused stays so.
    pub(crate) async fn heed(&mut self, call: Call) -> Result<(), DriveError> {
        let event = match call {
            Call::Resume if self.held => return Ok(()),
            Call::Resume => Event::Resumed,
            Call::Pause(why) => Event::Paused { why },
        };
        let held = self.held;
        self.give(event).await?;
        self.held = held;
        Ok(())
    }

    /// Keeps whether a person has paused it, even where it was paused already.
    pub(super) const fn hold_or_release(&mut self, event: &Event<Body>) {
        match event {
            Event::Paused { .. } => self.held = true,
            Event::Resumed => self.held = false,
            _ => {}
        }
    }

    /// Tells whoever acts for the run that it was paused or goes on, given how it was
    /// before: its children keep to that.
    pub(super) fn tell_pause(&self, before: bool) {
        let paused = self.run.core().paused;
        if paused != before {
            self.site.performer.paused(&self.id, paused);
        }
    }
}
