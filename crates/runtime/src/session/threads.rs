//! The threads of a session, and how long they may hold up its end.

use std::{io, ops::Deref, time::Duration};

use tokio::runtime::{Builder, Handle, Runtime};

/// How long blocking work may continue after the session has ended. Tools stop theirs; a thread
/// that waits for a broken disk cannot be stopped.
const LEFT: Duration = Duration::from_secs(2);

/// Threads that are abandoned at the end, whatever they wait for.
#[derive(Debug)]
pub(super) struct Threads {
    handle: Handle,
    /// There until the end.
    runtime: Option<Runtime>,
}

impl Threads {
    /// Starts them.
    #[cfg_attr(
        not(feature = "sqlite"),
        expect(dead_code, reason = "a session is opened over a file of journals")
    )]
    pub(super) fn start() -> io::Result<Self> {
        let runtime = Builder::new_multi_thread().enable_all().build()?;
        Ok(Self { handle: runtime.handle().clone(), runtime: Some(runtime) })
    }
}

impl Deref for Threads {
    type Target = Handle;

    fn deref(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(LEFT);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn work_that_never_ends_does_not_hold_up_the_end() {
        let threads = Threads::start().unwrap();
        let (release, held) = mpsc::channel::<()>();
        let (tell, told) = mpsc::channel();
        drop(threads.spawn_blocking(move || {
            tell.send(()).unwrap();
            held.recv()
        }));
        told.recv().unwrap();
        drop(threads);
        drop(release);
    }
}
