//! Signals of the system and of a person at the keyboard.

use std::{io, time::Duration};

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{Session, SessionError};

/// Ctrl-C cancels the run, the second detaches, and the third exits at once.
const PRESSED: usize = 3;

/// The signals for the process that drives a run. It listens before the run is claimed, so that no
/// key press is missed.
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
    /// Calls a function when the system asks the program to end. Active runs detach then; code
    /// that waits for a key must return too.
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

    /// Calls `end` at the third Ctrl-C, or some time after SIGTERM. A thread that is blocked on a
    /// full pipe sees no signal: only another thread can end the program then.
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
