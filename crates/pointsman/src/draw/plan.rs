//! Everything to draw, with its text and size, before the layout.

use pointsman_kernel::{
    chart::{AllowedTools, Chart, Disposition, State, StateKind, Work},
    id::JobId,
    job::{AgentDecl, Influence},
};

use super::text::Face;
use crate::format::duration;

/// Text in a card is broken beyond this, in pixels.
const CARD_TEXT: i64 = 200;
/// Text on an arrow is broken beyond this.
const TAG_TEXT: i64 = 120;
/// Tools that a card names before it only counts them.
const TOOLS_SHOWN: usize = 3;
/// The room that a start marker takes before its card.
pub(super) const MARKER: i64 = 34;
/// The room between a card and its notes.
pub(super) const NOTE_GAP: i64 = 16;
/// The least distance between two arrows at the edge of a card.
pub(super) const PORT_GAP: i64 = 12;
/// How far arrows stay from the corners of a card.
pub(super) const PORT_INSET: i64 = 16;

/// A chart as cards and arrows.
#[derive(Debug)]
pub(super) struct DrawPlan {
    /// The states in file order, without labels.
    pub(super) cards: Vec<Card>,
    /// The ways from card to card.
    pub(super) arrows: Vec<Arrow>,
}

/// The subject of a card.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum CardKind {
    Run,
    Decide,
    Await,
    FanOut,
    Final(Disposition),
}

/// One state.
#[derive(Debug)]
pub(super) struct Card {
    pub(super) name: String,
    pub(super) kind: CardKind,
    /// Whether runs begin here.
    pub(super) start: bool,
    /// Its text, from top to bottom.
    pub(super) lines: Vec<(Face, String)>,
    /// The names under which a run is seen while it is here.
    pub(super) notes: Vec<Note>,
    pub(super) width: i64,
    pub(super) height: i64,
}

/// A state that is only a label.
#[derive(Debug)]
pub(super) struct Note {
    pub(super) name: String,
    pub(super) lines: Vec<(Face, String)>,
    pub(super) width: i64,
    pub(super) height: i64,
}

/// The outcomes that lead from one state to another, alike in price and influence.
#[derive(Debug)]
pub(super) struct Arrow {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) outcomes: Vec<String>,
    /// The outcomes as they are written, line by line.
    pub(super) lines: Vec<String>,
    /// What the pill says.
    pub(super) pill: Option<String>,
    /// Whether model output can bring it about.
    pub(super) influenced: bool,
    pub(super) width: i64,
    pub(super) height: i64,
}

/// The height of a pill.
pub(super) const PILL: i64 = 15;

impl Card {
    /// Returns how far it reaches to the left of its middle.
    pub(super) const fn left(&self) -> i64 {
        self.width / 2 + if self.start { MARKER } else { 0 }
    }

    /// Returns how far it reaches to the right of its middle, notes included.
    pub(super) fn right(&self) -> i64 {
        let notes = self.notes.iter().map(|note| note.width + NOTE_GAP).max().unwrap_or(0);
        self.width / 2 + notes
    }

    /// Returns how high it is, notes included.
    pub(super) fn reach(&self) -> i64 {
        let notes: i64 = self.notes.iter().map(|note| note.height + 6).sum();
        self.height.max(notes - 6)
    }
}

impl DrawPlan {
    /// Plans the drawing of a chart whose jobs the agent declares.
    pub(super) fn new(chart: &Chart, agent: Option<&AgentDecl>) -> Self {
        let seen: Vec<_> = chart.state_ids().zip(chart.states()).collect();
        let drawn: Vec<_> = seen.iter().filter(|(_, state)| !state.is_label()).collect();
        let index = |id| drawn.iter().position(|(drawn, _)| *drawn == id);
        let mut arrows: Vec<Arrow> = Vec::new();
        for (from, (_, state)) in drawn.iter().enumerate() {
            for way in state.routes() {
                let edge = way.edge();
                // A label is never a target, so every target is drawn.
                let Some(to) = index(edge.to) else { continue };
                let spends = edge.spend.and_then(|id| chart.budget(id));
                let pill = spends.map(|budget| format!("−1 {}", budget.name()));
                let influenced = way.influence() != Influence::None;
                let same = |arrow: &&mut Arrow| {
                    (arrow.from, arrow.to, arrow.influenced) == (from, to, influenced)
                        && arrow.pill == pill
                };
                if let Some(arrow) = arrows.iter_mut().find(same) {
                    arrow.outcomes.push(way.name().into());
                } else {
                    let outcomes = vec![way.name().into()];
                    let (lines, width, height) = (Vec::new(), 0, 0);
                    arrows.push(Arrow {
                        from,
                        to,
                        outcomes,
                        lines,
                        pill,
                        influenced,
                        width,
                        height,
                    });
                }
            }
        }
        arrows.iter_mut().for_each(Arrow::measure);
        let cards = drawn.iter().enumerate().map(|(at, (id, state))| {
            let notes = seen.iter().filter_map(|(_, label)| match label.kind() {
                StateKind::BetweenAttemptsOf(of) if of == id => {
                    Some(note(label, "between attempts"))
                }
                StateKind::WhileAsking(of) if of == id => {
                    Some(note(label, "while a person decides"))
                }
                _ => None,
            });
            let notes = notes.collect();
            let start = *id == chart.start();
            let out = arrows.iter().filter(|arrow| arrow.from == at).count();
            let mut lines = named(state.name());
            describe(state, agent, &mut lines);
            let mut ends = sent_here(chart, *id);
            lines.append(&mut ends);
            card(state, lines, notes, start, out)
        });
        Self { cards: cards.collect(), arrows }
    }
}

impl Arrow {
    /// Breaks its outcomes into lines and finds its size.
    pub(super) fn measure(&mut self) {
        let face = Face::Label;
        let mut line = String::new();
        for (at, outcome) in self.outcomes.iter().enumerate() {
            let last = at + 1 == self.outcomes.len();
            let text = if last { outcome.clone() } else { format!("{outcome},") };
            let longer = if line.is_empty() { text.clone() } else { format!("{line} {text}") };
            if line.is_empty() || face.width(&longer) <= TAG_TEXT {
                line = longer;
            } else {
                self.lines.append(&mut face.wrap(&line, TAG_TEXT + 40));
                line = text;
            }
        }
        self.lines.append(&mut face.wrap(&line, TAG_TEXT + 40));
        let pill = self.pill.as_deref().map_or(0, |pill| Face::Small.width(pill) + 12);
        self.width = (face.widest(&self.lines) + 10).max(pill + 4);
        let lines = i64::try_from(self.lines.len()).unwrap_or(i64::MAX / 100);
        self.height = lines * face.line() + 4 + if self.pill.is_some() { PILL + 2 } else { 0 };
    }
}

fn named(name: &str) -> Vec<(Face, String)> {
    let wrapped = Face::Name.wrap(name, CARD_TEXT);
    wrapped.into_iter().map(|line| (Face::Name, line)).collect()
}

fn size(lines: &[(Face, String)]) -> (i64, i64) {
    let width = lines.iter().map(|(face, line)| face.width(line)).max().unwrap_or(0);
    (width, lines.iter().map(|(face, _)| face.line()).sum())
}

fn card(
    state: &State,
    lines: Vec<(Face, String)>,
    notes: Vec<Note>,
    start: bool,
    out: usize,
) -> Card {
    let kind = match state.kind() {
        StateKind::Decide(_) => CardKind::Decide,
        StateKind::Await { .. } => CardKind::Await,
        StateKind::FanOut { .. } => CardKind::FanOut,
        StateKind::Final(disposition) => CardKind::Final(*disposition),
        _ => CardKind::Run,
    };
    let (wide, high) = size(&lines);
    let ports = i64::try_from(out.max(2)).unwrap_or(2);
    // The letter of the kind comes before the text.
    let width = (wide + 54).max((ports - 1) * PORT_GAP + 2 * PORT_INSET);
    // An even width has its middle on a whole pixel.
    let width = width + width % 2;
    Card { name: state.name().into(), kind, start, lines, notes, width, height: high + 14 }
}

fn note(label: &State, when: &str) -> Note {
    let mut lines = vec![(Face::Small, format!("seen as “{}”", label.name()))];
    lines = lines.iter().flat_map(|(face, line)| face.wrap(line, CARD_TEXT)).map(small).collect();
    lines.push(small(when.into()));
    let (wide, high) = size(&lines);
    Note { name: label.name().into(), lines, width: wide + 16, height: high + 8 }
}

const fn small(text: String) -> (Face, String) {
    (Face::Small, text)
}

/// Writes what a state does: its job, its limits, its tools.
fn describe(state: &State, agent: Option<&AgentDecl>, lines: &mut Vec<(Face, String)>) {
    let job =
        |id: JobId| agent.and_then(|agent| agent.jobs.get(id.index())).map_or("?", |j| j.name);
    let mut code = |text: String| {
        lines.extend(Face::Code.wrap(&text, CARD_TEXT).into_iter().map(|line| (Face::Code, line)));
    };
    let mut facts = Vec::new();
    match state.kind() {
        StateKind::Run(work) => {
            code(job(work.job).into());
            facts.push(tries(work));
        }
        StateKind::Decide(id) => code(job(*id).into()),
        StateKind::Await { timeout, .. } => {
            facts.extend(timeout.map(|ms| format!("waits {}", duration(ms))));
        }
        StateKind::FanOut { work, over, join, max_parallel, max_items } => {
            let list = agent.and_then(|agent| agent.lists.get(usize::from(*over)));
            code(format!("{} per {}", job(work.job), list.copied().unwrap_or("item")));
            code(format!("joined by {}", job(*join)));
            facts.push(tries(work));
            facts.push(format!("{max_items} items, {max_parallel} at once"));
        }
        StateKind::Final(disposition) => facts.push(disposition.name().into()),
        _ => {}
    }
    match state.tools() {
        AllowedTools::All => facts.push("tools: all".into()),
        AllowedTools::Only(list) => {
            let shown: Vec<&str> = list.iter().take(TOOLS_SHOWN).map(|tool| &**tool).collect();
            let more = list.len().saturating_sub(TOOLS_SHOWN);
            let more = if more > 0 { format!(" +{more}") } else { String::new() };
            facts.push(format!("tools: {}{more}", shown.join(", ")));
        }
        _ => {}
    }
    let mut line = String::new();
    for fact in facts {
        let longer = if line.is_empty() { fact.clone() } else { format!("{line} · {fact}") };
        if line.is_empty() || Face::Small.width(&longer) <= CARD_TEXT {
            line = longer;
        } else {
            lines.extend(Face::Small.wrap(&line, CARD_TEXT).into_iter().map(small));
            line = fact;
        }
    }
    lines.extend(
        Face::Small.wrap(&line, CARD_TEXT).into_iter().filter(|l| !l.is_empty()).map(small),
    );
}

/// Writes attempts times timeout.
fn tries(work: &Work) -> String {
    format!("{} × {}", work.attempts.max, duration(work.attempts.timeout))
}

/// Writes what leads to a state beside its arrows: `[any]` and used-up budgets.
fn sent_here(chart: &Chart, id: pointsman_kernel::id::StateId) -> Vec<(Face, String)> {
    let any = super::panel::any(chart).filter(|(_, to)| *to == id).map(|(event, _)| event);
    let any: Vec<&str> = any.collect();
    let spent = chart.budgets().iter().filter(|budget| budget.otherwise() == id);
    let spent: Vec<&str> = spent.map(pointsman_kernel::chart::Budget::name).collect();
    let mut lines = Vec::new();
    for (head, names) in [("from any: ", any), ("beyond: ", spent)] {
        if !names.is_empty() {
            let text = format!("{head}{}", names.join(", "));
            lines.extend(Face::Small.wrap(&text, CARD_TEXT).into_iter().map(small));
        }
    }
    lines
}
