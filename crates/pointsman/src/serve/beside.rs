//! The page of a run while a command drives it: a server of the same process, on a free port of
//! this machine alone.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use pointsman_runtime::{
    observe::{Notice, Observer},
    session::Session,
    store::RunId,
};
use tokio::{sync::watch, task::JoinHandle};

use super::{ReadyServer, ServeOptions, Server, listen::StopSignals};
use crate::{browse, report::Error, tokens::TokenFile};

/// How long requests in progress have to end when the command does.
const DRAIN: Duration = Duration::from_secs(2);

/// A server beside a run. It answers while the process waits for something.
pub(crate) struct PageServer {
    url: String,
    server: Arc<Server>,
    close: watch::Sender<bool>,
    hints: JoinHandle<()>,
    serving: JoinHandle<()>,
}

impl PageServer {
    /// Starts to answer.
    pub(crate) fn start(
        session: &Arc<Session>,
        options: ServeOptions,
        tokens: TokenFile,
    ) -> Result<Self, Error> {
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let options = ServeOptions { listen, jobs: None, tls: None, drain: DRAIN, ..options };
        session.block_on(async {
            let ready = ReadyServer::new(session, options, tokens).await?;
            let ReadyServer { listener, server, close, hints, .. } = ready;
            let url = listener.url();
            let serving = ReadyServer::answer(listener, &server);
            Ok(Self { url, server, close, hints, serving })
        })
    }

    /// Returns the address of all runs.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Returns the address of a run.
    pub(crate) fn page(&self, run: &RunId) -> String {
        page(&self.url, run)
    }

    /// Returns what shows the run live in the page, and opens the browser as soon as there is one to
    /// show.
    pub(crate) fn observers(&self) -> Vec<Arc<dyn Observer>> {
        let (url, opened) = (self.url.clone(), AtomicBool::new(false));
        let open = move |run: &RunId, _: &Notice| {
            if !opened.swap(true, Ordering::Relaxed) {
                browse::open(page(&url, run));
            }
        };
        vec![Arc::new(self.server.hub.clone()), Arc::new(open)]
    }

    /// Answers until the person presses Ctrl-C, or the process is asked to end.
    pub(crate) fn wait(mut self, session: &Session) -> Result<(), Error> {
        session.block_on(async {
            let mut signals = StopSignals::new()?;
            tokio::select! {
                () = signals.next() => {}
                // A panic of the loop has been told, and nothing is left to wait for.
                _ = &mut self.serving => {}
            }
            Ok(())
        })
    }
}

impl Drop for PageServer {
    fn drop(&mut self) {
        self.close.send_replace(true);
        self.hints.abort();
        self.serving.abort();
    }
}

fn page(url: &str, run: &RunId) -> String {
    format!("{url}/runs/{run}")
}
