//! A stand-in for Appium with an Android device: it answers as the real server does, over an
//! app that a test writes down as a small graph. No device, no driver and no Appium is behind
//! it; what those really do is tested by the tier `appium`.

mod app;
mod graph;
pub(crate) mod http;
mod model;
mod routes;
mod screen;
mod touch;

use std::{
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
};

pub(crate) use app::{App, Screen, To, Widget};
pub(crate) use graph::GraphPlayer;
pub(crate) use model::{Front, Model};
pub(crate) use routes::{ROUTES, Route};

use http::{Answer, Request};

/// A stand-in that listens on loopback. Dropping it ends it.
pub(crate) struct StandIn {
    port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    model: Mutex<Model>,
    ended: AtomicBool,
}

/// What happens to one of the next calls, in place of its answer.
#[derive(Clone, Debug)]
pub(crate) enum Mishap {
    /// An error of the protocol: code and message.
    Error(&'static str, &'static str),
    /// No answer ever comes.
    Silence,
    /// The connection is closed.
    Hangup,
    /// An answer that is not WebDriver's.
    Nonsense,
}

impl StandIn {
    /// Serves an app that is installed in this version, or not yet.
    pub(crate) fn of(app: App, installed: Option<u64>) -> Self {
        Self::serving(Model::new(app, installed))
    }

    /// Serves an app that is installed and does what a graph says.
    pub(crate) fn playing(package: &str, graph: GraphPlayer) -> Self {
        let mut model = Model::new(App::new(package, Vec::new()), Some(1));
        model.graph = Some(graph);
        Self::serving(model)
    }

    fn serving(model: Model) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let port = listener.local_addr().expect("listener has an address").port();
        let model = Mutex::new(model);
        let shared = Arc::new(Shared { model, ended: AtomicBool::new(false) });
        let serving = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if serving.ended.load(SeqCst) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let serving = Arc::clone(&serving);
                thread::spawn(move || serve(&stream, &serving));
            }
        });
        Self { port, shared }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns the device with all that is on it.
    pub(crate) fn model(&self) -> MutexGuard<'_, Model> {
        self.shared.model()
    }

    /// Lets the next call whose path ends so go wrong.
    pub(crate) fn next(&self, path: &'static str, mishap: Mishap) {
        self.model().mishaps.push((path, mishap));
    }

    /// Returns how often a command was called.
    pub(crate) fn called(&self, command: &str) -> usize {
        self.model().calls.iter().filter(|it| *it == command).count()
    }
}

impl Shared {
    fn model(&self) -> MutexGuard<'_, Model> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.shared.ended.store(true, SeqCst);
        // It waits for one more connection before it looks.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
    }
}

/// Answers one request after the other of a connection.
fn serve(stream: &TcpStream, shared: &Shared) {
    let mut connection = http::Connection::new(stream);
    while let Some(request) = connection.next() {
        if shared.ended.load(SeqCst) {
            return;
        }
        let mishap = shared.model().mishap(&request.path);
        let answer = match mishap {
            None => answered(&request, shared),
            Some(Mishap::Error(code, message)) => Answer::error(code, message),
            Some(Mishap::Nonsense) => {
                Answer { status: 502, kind: http::HTML, body: "<h1>Bad gateway</h1>".into() }
            }
            Some(Mishap::Hangup) => return,
            Some(Mishap::Silence) => return connection.wait_for_the_end(),
        };
        if !connection.answer(&answer) {
            return;
        }
    }
}

fn answered(request: &Request, shared: &Shared) -> Answer {
    let call = match routes::find(request) {
        Ok(call) => call,
        Err(answer) => return answer,
    };
    let mut model = shared.model();
    model.calls.push(call.name.clone());
    match model.answer(&call) {
        Ok(value) => Answer::value(&value),
        Err((code, message)) => Answer::error(code, &message),
    }
}
