//! The view as a person sees it, over real stores: keys in, screens out.

mod facts;
mod keys;
mod screens;

use std::sync::{
    Arc,
    mpsc::{Receiver, channel},
};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use pointsman_kernel::{
    agent::{Answer, Reply},
    agents::{Agents, Program},
    body::Body,
    effect::{Effect, EffectKind},
    event::{Event, Usage},
    id::EffectId,
    run::{Core, ItemStatus},
};
use pointsman_runtime::{
    driver::listens,
    session::Session,
    store::{RunId, import::Exported},
};
use pointsman_testing::{
    folder::TempFolder,
    kept::{WrittenRun, corpus, keep},
};
use ratatui::{Terminal, backend::TestBackend, style::Modifier};
use serde_json::{
    json,
    value::{RawValue, to_raw_value},
};

use super::{
    model::{WatchMessage, WatchModel, WatchRequest},
    open_run::RunModel,
    view,
    worker::WatchWorker,
};
use crate::{agents::AGENTS, line::width};

/// 2027: all runs of the corpus are older.
const NOW: u64 = 1_800_000_000_000;

/// A store with runs, the model, and the worker between them.
struct Desk {
    session: Arc<Session>,
    worker: WatchWorker,
    told: Receiver<WatchMessage>,
    model: WatchModel,
    _folder: TempFolder,
}

impl Desk {
    /// Opens a store with these runs, and shows the list or a run.
    fn new(runs: &[Exported], size: (u16, u16), run: Option<&RunId>) -> Self {
        Self::knowing(AGENTS.clone(), runs, size, run)
    }

    /// The same for a program that knows these agents.
    fn knowing(agents: Agents, runs: &[Exported], size: (u16, u16), run: Option<&RunId>) -> Self {
        let folder = TempFolder::new("watch");
        let session = Session::open(agents, &folder.journal(), &folder.0.join("cache"));
        let session = Arc::new(session.expect("the store opens"));
        for exported in runs {
            session.block_on(keep(&**session.store(), &AGENTS, exported));
        }
        let (tell, told) = channel();
        let worker = WatchWorker::new(Arc::clone(&session), tell);
        let (model, requests) = WatchModel::begin("journal.db", size, NOW, run.cloned());
        let mut desk = Self { session, worker, told, model, _folder: folder };
        desk.settle(requests);
        desk
    }

    /// Opens a store with a run, and shows that.
    fn of(run: &Exported, size: (u16, u16)) -> Self {
        Self::new(std::slice::from_ref(run), size, Some(&run.run))
    }

    /// Serves requests until there are none.
    fn settle(&mut self, mut requests: Vec<WatchRequest>) {
        while !requests.is_empty() {
            self.session.block_on(self.worker.settle(requests));
            let told: Vec<WatchMessage> = self.told.try_iter().collect();
            requests = told.into_iter().flat_map(|told| self.model.update(told)).collect();
        }
    }

    fn tell(&mut self, message: WatchMessage) {
        let requests = self.model.update(message);
        self.settle(requests);
    }

    fn press(&mut self, code: KeyCode) {
        self.tell(WatchMessage::Key(KeyEvent::new(code, KeyModifiers::NONE)));
    }

    /// Types characters; a line break is Enter.
    fn keys(&mut self, typed: &str) {
        for key in typed.chars() {
            self.press(if key == '\n' { KeyCode::Enter } else { KeyCode::Char(key) });
        }
    }

    fn open(&self) -> &RunModel {
        self.model.open.as_ref().expect("a run is open")
    }

    /// Returns the screen as text; selected rows are marked.
    fn screen(&self) -> String {
        self.screen_of(self.model.size)
    }

    fn screen_of(&self, (columns, rows): (u16, u16)) -> String {
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).expect("it opens");
        terminal.draw(|frame| view::draw(&self.model, true, frame)).expect("it is drawn");
        let buffer = terminal.backend().buffer();
        let mut screen = String::new();
        for row in buffer.content().chunks(columns.into()) {
            let selected = row.iter().any(|cell| cell.modifier.contains(Modifier::REVERSED));
            let mut text = String::from(if selected { ">" } else { " " });
            let mut cells = row.iter();
            while let Some(cell) = cells.next() {
                text.push_str(cell.symbol());
                // What is wide covers the cells behind it.
                for _ in 1..width(cell.symbol()) {
                    cells.next();
                }
            }
            screen.push_str(text.trim_end());
            screen.push('\n');
        }
        screen
    }
}

/// Returns a kept run.
fn kept(name: &str) -> Exported {
    corpus(name).into_iter().next().expect("the run is kept")
}

/// Returns a run that waits for a yes.
fn asking() -> Exported {
    let asks = |_: &Program, core: &Core| {
        core.items.iter().any(|item| matches!(item.doing, ItemStatus::Asking { .. }))
    };
    WrittenRun::cut(&AGENTS, kept("builtin-note-03"), asks).exported
}

/// Returns a conversation that waits for a message.
fn listening() -> WrittenRun {
    WrittenRun::cut(&AGENTS, kept("chat-01"), |program, core| {
        listens(program, core) && !core.paused
    })
}

/// Returns the effect that a step started.
fn started(effects: &[Effect<Body>]) -> EffectId {
    let started = effects.iter().find(|it| matches!(it.order, EffectKind::Start(_)));
    started.expect("something was started").id
}

/// Returns a message of a person.
fn body(text: &str) -> Box<RawValue> {
    to_raw_value(&json!({ "text": text })).expect("a text serialises")
}

/// Text that would steer a terminal, hide something, or never end.
fn hostile_text() -> String {
    let long = "x".repeat(1 << 20);
    format!(
        "\u{1b}[2J\u{1b}]0;owned\u{7}red\u{1b}[31m \u{202e}gnp.exe\u{202c} \u{200b}漢字かな交じり文 \
         e\u{301}{}\u{9b}5n\r\u{8}\nsecond line\t{long}",
        "\u{301}".repeat(50)
    )
}

/// Returns a conversation in which a person and a model say hostile things.
fn hostile() -> Exported {
    let mut run = listening();
    let text = hostile_text();
    let said = Event::Given { event: 0, body: body(&text) };
    let effect = started(&run.write(said));
    let reply = Reply { text, calls: Vec::new() };
    let usage = Usage { tokens: 12, ..Usage::default() };
    run.write(Event::Answered { effect, answer: Answer::Model(reply), usage, sent: None });
    run.exported.goal = hostile_text().into();
    run.exported
}
