//! What the system and a person at the keyboard ask of the whole program.

use std::{io, time::Duration};

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{Session, SessionError};

/// How often a person asks before nobody is waited for: once cancels the run, and twice
/// lets go of it.
const PRESSED: usize = 3;

/// What whoever drives a run listens to, from before the run is taken up: nothing that a
/// person presses meanwhile is missed.
pub(super) struct Signals {
    /// Ctrl-C.
    pub(super) interrupts: Signal,
    /// The system's request to end.
    pub(super) terminations: Signal,
}

impl Signals {
    /// Listens, on a thread that has timers and signals.
    pub(super) fn listen() -> io::Result<Self> {
        let interrupts = signal(SignalKind::interrupt())?;
        Ok(Self { interrupts, terminations: signal(SignalKind::terminate())? })
    }
}

impl Session {
    /// Has somebody told when the system asks the program to end. Runs that are driven
    /// let go of themselves then; whoever waits for a key must do so too.
    pub fn when_ending(&self, tell: impl FnOnce() + Send + 'static) -> Result<(), SessionError> {
        let _threads = self.threads.enter();
        // Listened to from here on, so that none is missed.
        let mut terminations = signal(SignalKind::terminate())?;
        drop(self.threads.spawn(async move {
            if terminations.recv().await.is_some() {
                tell();
            }
        }));
        Ok(())
    }

    /// Calls `end` when a person asks a third time for the end, or some time after the
    /// system has. Whoever writes to a reader that does not read hears nothing and drives
    /// nothing on: only a thread beside theirs can end that.
    pub fn when_pressed(
        &self,
        patience: Duration,
        end: impl FnOnce() + Send + 'static,
    ) -> Result<(), SessionError> {
        let _threads = self.threads.enter();
        let Signals { mut interrupts, mut terminations } = Signals::listen()?;
        drop(self.threads.spawn(async move {
            for _ in 0..PRESSED {
                tokio::select! {
                    _ = interrupts.recv() => {}
                    _ = terminations.recv() => {
                        tokio::time::sleep(patience).await;
                        break;
                    }
                }
            }
            end();
        }));
        Ok(())
    }
}
