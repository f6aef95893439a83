//! The loop: keys and what the worker reads go to the model, and the model to the screen.

use std::{
    io::{self, IsTerminal as _},
    sync::{
        Arc,
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread,
    time::Duration,
};

use crossterm::{
    event::{self, DisableBracketedPaste, EnableBracketedPaste, Event, KeyEventKind},
    execute,
};
use pointsman_runtime::{clock::now_ms, session::Session, store::RunId};
use ratatui::DefaultTerminal;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{
    model::{WatchMessage, WatchModel, WatchRequest},
    view,
    worker::WatchWorker,
};
use crate::{
    report::{Error, coloured},
    screen::{stop, suspends},
};

/// How long nothing has to happen until there is a look at the clock.
const TICK: Duration = Duration::from_millis(250);

/// Refuses to start without a terminal.
pub(crate) fn needs_terminal() -> Result<(), Error> {
    let is_there = io::stdin().is_terminal() && io::stdout().is_terminal();
    if is_there { Ok(()) } else { Err(Error::NoTerminal) }
}

/// Shows runs until the person leaves.
pub(crate) fn watch(session: Session, run: Option<RunId>) -> Result<(), Error> {
    let session = Arc::new(session);
    let (tell, told) = mpsc::channel();
    let (ask, asked) = unbounded_channel();
    let store = session.name().to_owned();
    let worker = WatchWorker::new(Arc::clone(&session), tell.clone());
    let working = thread::spawn(move || session.block_on(worker.run(asked)));
    let shown = Shown::take().map_err(screen);
    let shown = shown.and_then(|mut shown| {
        let size = shown.terminal.size().map_err(screen)?;
        let (model, requests) = WatchModel::begin(&store, (size.width, size.height), now_ms(), run);
        thread::spawn(move || keys(&tell));
        show(&mut shown, model, requests, &told, &ask).map_err(screen)
    });
    drop(ask);
    // A worker that panicked has said so.
    drop(working.join());
    shown
}

fn screen(source: io::Error) -> Error {
    Error::Write { path: "the terminal".into(), source }
}

/// The terminal, as long as it is ours. Dropping it gives it back as it was; so does a panic.
struct Shown {
    terminal: DefaultTerminal,
}

impl Shown {
    fn take() -> io::Result<Self> {
        let shown = Self { terminal: ratatui::try_init()? };
        execute!(io::stdout(), EnableBracketedPaste)?;
        Ok(shown)
    }

    /// Gives the terminal back, stops the program as Ctrl-Z does, and takes the terminal again
    /// when the program continues.
    fn suspend(&mut self) -> io::Result<()> {
        give_back();
        stop()?;
        self.terminal = ratatui::try_init()?;
        execute!(io::stdout(), EnableBracketedPaste)?;
        // Unlike `clear`, this asks the terminal nothing: another thread reads its answers.
        let size = self.terminal.size()?;
        self.terminal.resize(size.into())
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        give_back();
    }
}

fn give_back() {
    // A closed terminal need not be restored.
    drop(execute!(io::stdout(), DisableBracketedPaste));
    drop(ratatui::try_restore());
}

fn show(
    shown: &mut Shown,
    mut model: WatchModel,
    mut requests: Vec<WatchRequest>,
    told: &Receiver<WatchMessage>,
    ask: &UnboundedSender<WatchRequest>,
) -> io::Result<()> {
    let coloured = coloured();
    loop {
        for request in requests.drain(..) {
            // A worker that has ended is noticed below.
            drop(ask.send(request));
        }
        if model.is_over {
            return Ok(());
        }
        shown.terminal.draw(|frame| view::draw(&model, coloured, frame))?;
        let first = match told.recv_timeout(TICK) {
            Ok(message) => message,
            Err(RecvTimeoutError::Timeout) => WatchMessage::Tick(now_ms()),
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        };
        if ask.is_closed() {
            return Err(io::Error::other("reading from the store has stopped; see the log"));
        }
        // What has come together is drawn together.
        for message in std::iter::once(first).chain(told.try_iter()) {
            if let WatchMessage::Key(key) = &message
                && suspends(key)
            {
                shown.suspend()?;
                continue;
            }
            requests.extend(model.update(message));
        }
        requests.extend(model.update(WatchMessage::Tick(now_ms())));
    }
}

/// Reads keys for as long as the model takes them.
fn keys(tell: &Sender<WatchMessage>) {
    while let Ok(event) = event::read() {
        let message = match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => WatchMessage::Key(key),
            Event::Paste(text) => WatchMessage::Pasted(text),
            Event::Resize(columns, rows) => WatchMessage::Resized(columns, rows),
            _ => continue,
        };
        if tell.send(message).is_err() {
            return;
        }
    }
    drop(tell.send(WatchMessage::Leave));
}
