//! What keys do.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use pointsman_kernel::id::Seq;
use pointsman_runtime::observe::Question;

use super::{
    answer::PendingAnswer,
    finding::FindState,
    model::{WatchDialog, WatchModel, WatchRequest},
    open_run::StepPane,
    runs::PAGE,
    view,
};
use crate::line::Ink;

/// Every key, for the help.
pub(crate) const HELP: &[(&str, &str)] = &[
    ("↑ ↓  k j", "previous, next item or run"),
    ("← →  h l", "step back, step forward: one entry"),
    ("PgUp PgDn", "a screen up, a screen down"),
    ("Home End  g G", "first, last; at the last entry, the view follows the run live"),
    ("Enter", "open the run; enlarge the pane, or restore it"),
    ("Tab  1…6", "next pane; story, why, chart, budgets, data, prompt"),
    ("s w c b", "story, why, chart, budgets"),
    ("K J", "scroll the pane"),
    ("/", "filter the list; find in the run"),
    ("n N", "next, previous match"),
    ("a d", "approve, deny the open question"),
    ("Esc", "back"),
    ("?", "this help"),
    ("q  Ctrl-C", "leave; runs continue"),
];

/// How to filter the list.
pub(crate) const FILTERS: &str = "filter: words of the goal, agent:NAME, chart:NAME, state:NAME, is:waiting, is:open, is:failed, …";

impl WatchModel {
    /// Takes a key, and returns what to read.
    pub(crate) fn key(&mut self, key: KeyEvent) -> Vec<WatchRequest> {
        self.notice = None;
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        if ctrl && key.code == KeyCode::Char('c') {
            self.is_over = true;
            return Vec::new();
        }
        match self.over.take() {
            Some(WatchDialog::Help(top)) => {
                self.over = help(top, key.code);
                Vec::new()
            }
            Some(WatchDialog::Filter(text)) => self.filter_key(text, key),
            Some(WatchDialog::Find(text)) => self.find_key(text, key),
            Some(WatchDialog::Answer(answer)) => self.answer_key(answer, key),
            None if ctrl => Vec::new(),
            None => self.plain_key(key.code),
        }
    }

    /// Takes a pasted text: it is typed where something is typed, and does nothing else.
    pub(crate) fn paste(&mut self, pasted: &str) -> Vec<WatchRequest> {
        let pasted = pasted.replace(['\r', '\n'], " ");
        match &mut self.over {
            Some(WatchDialog::Filter(text) | WatchDialog::Find(text)) => text.push_str(&pasted),
            Some(WatchDialog::Answer(answer)) => answer.reason.push_str(&pasted),
            _ => {}
        }
        Vec::new()
    }

    fn plain_key(&mut self, key: KeyCode) -> Vec<WatchRequest> {
        match key {
            KeyCode::Char('q') => self.is_over = true,
            KeyCode::Char('?') | KeyCode::F(1) => self.over = Some(WatchDialog::Help(0)),
            _ if self.open.is_some() => return self.run_key(key),
            _ => return self.list_key(key),
        }
        Vec::new()
    }

    fn list_key(&mut self, key: KeyCode) -> Vec<WatchRequest> {
        let screen = isize::from(self.size.1.max(4).cast_signed()).saturating_sub(3);
        match key {
            KeyCode::Up | KeyCode::Char('k') => self.runs.step(-1),
            KeyCode::Down | KeyCode::Char('j') => self.runs.step(1),
            KeyCode::PageUp => self.runs.step(-screen),
            KeyCode::PageDown => self.runs.step(screen),
            KeyCode::Home | KeyCode::Char('g') => self.runs.step(isize::MIN),
            KeyCode::End | KeyCode::Char('G') => self.runs.step(isize::MAX),
            KeyCode::Char('/') => self.over = Some(WatchDialog::Filter(self.runs.typed.clone())),
            KeyCode::Esc if !self.runs.typed.is_empty() => return self.set_filter(String::new()),
            KeyCode::Enter | KeyCode::Right | KeyCode::Char('l') => {
                if let Some(run) = self.runs.current().cloned() {
                    return self.open(run);
                }
            }
            _ => {}
        }
        Vec::new()
    }

    fn run_key(&mut self, key: KeyCode) -> Vec<WatchRequest> {
        let screen = isize::from(self.size.1.max(8).cast_signed()).saturating_sub(6);
        let Some(open) = &mut self.open else { return Vec::new() };
        match key {
            KeyCode::Esc if open.zoomed => open.zoomed = false,
            KeyCode::Esc if open.finding.is_some() => {
                open.finding = None;
                return vec![WatchRequest::Find { run: open.id.clone(), text: String::new() }];
            }
            KeyCode::Esc | KeyCode::Backspace => {
                let run = open.id.clone();
                self.runs.selected = Some(run);
                self.open = None;
                return self.list();
            }
            KeyCode::Up | KeyCode::Char('k') => open.step_items(-1),
            KeyCode::Down | KeyCode::Char('j') => open.step_items(1),
            KeyCode::Left | KeyCode::Char('h') => open.step_entries(-1),
            KeyCode::Right | KeyCode::Char('l') => open.step_entries(1),
            KeyCode::PageUp => open.step_items(-screen),
            KeyCode::PageDown => open.step_items(screen),
            KeyCode::Home | KeyCode::Char('g') => open.select((Seq(1), 0)),
            KeyCode::End | KeyCode::Char('G') => open.follow(),
            KeyCode::Enter => open.zoomed = !open.zoomed,
            KeyCode::Tab | KeyCode::BackTab => {
                let at = StepPane::ALL.iter().position(|it| *it == open.pane).unwrap_or(0);
                let by = if key == KeyCode::Tab { 1 } else { StepPane::ALL.len() - 1 };
                let next = StepPane::ALL.get((at + by) % StepPane::ALL.len());
                self.show(next.copied());
            }
            KeyCode::Char(digit @ '1'..='6') => {
                let at = digit.to_digit(10).and_then(|at| usize::try_from(at).ok());
                self.show(at.and_then(|at| StepPane::ALL.get(at - 1)).copied());
            }
            KeyCode::Char('s') => self.show(Some(StepPane::Story)),
            KeyCode::Char('w') => self.show(Some(StepPane::Why)),
            KeyCode::Char('c') => self.show(Some(StepPane::Chart)),
            KeyCode::Char('b') => self.show(Some(StepPane::Budgets)),
            KeyCode::Char('K') => self.scroll(-1),
            KeyCode::Char('J') => self.scroll(1),
            KeyCode::Char('/') => {
                let text = open.finding.as_ref().map_or_else(String::new, |it| it.text.clone());
                self.over = Some(WatchDialog::Find(text));
            }
            KeyCode::Char(next @ ('n' | 'N')) => {
                let finding = open.finding.as_mut();
                if let Some(hit) = finding.and_then(|it| it.step(next == 'n')) {
                    open.select(hit);
                }
            }
            KeyCode::Char(answer @ ('a' | 'd')) => self.ask(answer == 'a'),
            _ => {}
        }
        Vec::new()
    }

    /// Shows a pane.
    fn show(&mut self, pane: Option<StepPane>) {
        if let (Some(open), Some(pane)) = (&mut self.open, pane) {
            (open.pane, open.top) = (pane, None);
        }
    }

    /// Scrolls the pane by this many rows.
    fn scroll(&mut self, rows: isize) {
        let Some((top, last)) = view::pane_top(self) else { return };
        let top = top.saturating_add_signed(rows).min(last);
        if let Some(open) = &mut self.open {
            open.top = Some(top);
        }
    }

    /// Shows the question that is open, to be answered.
    fn ask(&mut self, granted: bool) {
        let facts = self.open.as_ref().and_then(|open| open.facts.as_ref());
        let question = facts.and_then(|facts| {
            let unanswered = |it: &&Question| !facts.answers.contains_key(&it.effect);
            facts.questions.iter().find(unanswered).or_else(|| facts.questions.first())
        });
        let (Some(facts), Some(question)) = (facts, question) else {
            self.notice = Some((Ink::Warning, "this run has no open question".into()));
            return;
        };
        let (run, folder) = (facts.row.id.clone(), facts.folder.as_deref());
        let answer = PendingAnswer::new(run, question.clone(), granted, folder);
        self.over = Some(WatchDialog::Answer(Box::new(answer)));
    }

    fn filter_key(&mut self, mut text: String, key: KeyEvent) -> Vec<WatchRequest> {
        match key.code {
            KeyCode::Esc => return Vec::new(),
            KeyCode::Enter => return self.set_filter(text),
            _ => edit(&mut text, key),
        }
        self.over = Some(WatchDialog::Filter(text));
        Vec::new()
    }

    fn set_filter(&mut self, typed: String) -> Vec<WatchRequest> {
        self.runs.typed = typed;
        self.runs.limit = PAGE;
        self.list()
    }

    fn find_key(&mut self, mut text: String, key: KeyEvent) -> Vec<WatchRequest> {
        match key.code {
            KeyCode::Esc => return Vec::new(),
            KeyCode::Enter => {
                let Some(open) = &mut self.open else { return Vec::new() };
                open.finding = (!text.is_empty())
                    .then(|| FindState { text: text.clone(), ..FindState::default() });
                return vec![WatchRequest::Find { run: open.id.clone(), text }];
            }
            _ => edit(&mut text, key),
        }
        self.over = Some(WatchDialog::Find(text));
        Vec::new()
    }

    fn answer_key(&mut self, mut answer: Box<PendingAnswer>, key: KeyEvent) -> Vec<WatchRequest> {
        let (columns, room) = view::answer_room(self.size);
        let screen = isize::try_from(room).unwrap_or(isize::MAX).saturating_sub(1).max(1);
        match key.code {
            KeyCode::Esc => return Vec::new(),
            KeyCode::Up => answer.scroll(-1, columns, room),
            KeyCode::Down => answer.scroll(1, columns, room),
            KeyCode::PageUp => answer.scroll(-screen, columns, room),
            KeyCode::PageDown => answer.scroll(screen, columns, room),
            // A yes counts once all of the question was on the screen.
            KeyCode::Enter if answer.granted && !answer.read => {
                answer.scroll(screen, columns, room);
                self.notice = Some((Ink::Warning, "read to the end first: PgDn".into()));
            }
            KeyCode::Enter => {
                let PendingAnswer { run, question, granted, reason, .. } = *answer;
                let reason = Some(reason).filter(|reason| !reason.trim().is_empty());
                let question = Box::new(question);
                return vec![WatchRequest::Answer { run, question, granted, reason }];
            }
            _ => edit(&mut answer.reason, key),
        }
        self.over = Some(WatchDialog::Answer(answer));
        Vec::new()
    }
}

/// Changes a line that is typed.
fn edit(text: &mut String, key: KeyEvent) {
    let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('u') if ctrl => text.clear(),
        KeyCode::Char(c) if !ctrl => text.push(c),
        KeyCode::Backspace => drop(text.pop()),
        _ => {}
    }
}

/// Returns the help after a key: scrolled, or gone.
fn help(top: usize, key: KeyCode) -> Option<WatchDialog> {
    let last = HELP.len().saturating_sub(1);
    match key {
        KeyCode::Up | KeyCode::Char('k') => Some(WatchDialog::Help(top.saturating_sub(1))),
        KeyCode::Down | KeyCode::Char('j') => Some(WatchDialog::Help((top + 1).min(last))),
        _ => None,
    }
}
