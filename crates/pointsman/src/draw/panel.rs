//! What is around the picture: the title above, tables and a legend below.

use std::fmt::{Result, Write};

use pointsman_kernel::{
    chart::{Authority, Budget, Certificate, CertificateScope, Charge, Chart, Reset},
    id::StateId,
};

use super::{
    plan::{CardKind, DrawPlan},
    shape,
    text::{Face, escape},
};
use crate::format::{duration, grouped};

/// The distance between two lines of a table.
const LINE: i64 = 16;
/// The room between two blocks.
const GAP: i64 = 36;
/// The room between two columns.
const COLUMN: i64 = 14;
/// The room for a sign of the legend.
const SIGN: i64 = 26;
/// The distance between two lines of the legend.
const SIGNS: i64 = 20;

/// Returns the entries of `[any]`.
pub(super) fn any(chart: &Chart) -> impl Iterator<Item = (&'static str, StateId)> {
    let any = chart.any();
    [("cancel", Some(any.cancel)), ("cancel_turn", any.cancel_turn), ("shutdown", any.shutdown)]
        .into_iter()
        .filter_map(|(name, to)| Some((name, to?)))
}

/// Returns how far a model may decide, in a word.
pub(super) const fn level(chart: &Chart) -> &'static str {
    match chart.authority() {
        Authority::Choose => "choose",
        Authority::Propose => "propose",
        _ => "text",
    }
}

/// The lines above the picture.
pub(super) struct ChartHeader {
    name: Vec<String>,
    about: String,
    bounds: String,
}

impl ChartHeader {
    /// Writes what the chart is and what `check` proved of it.
    pub(super) fn new(chart: &Chart, width: i64) -> Self {
        let Certificate { per, steps, model_calls, tool_calls, time_ms, .. } = chart.certificate();
        let per = if per == CertificateScope::Turn { "turn" } else { "run" };
        Self {
            name: Face::Title.wrap(chart.name(), width),
            about: format!("v{} · authority: {}", chart.version(), level(chart)),
            bounds: format!(
                "at most, per {per}: {} state visits · {} model calls · {} tool calls · {}",
                grouped(steps),
                grouped(model_calls),
                grouped(tool_calls),
                duration(time_ms)
            ),
        }
    }

    /// Returns how wide and high it is.
    pub(super) fn size(&self) -> (i64, i64) {
        let last = self.name.last().map_or(0, |line| Face::Title.width(line));
        let first = Face::Title.widest(&self.name).max(last + 12 + Face::Small.width(&self.about));
        let lines = i64::try_from(self.name.len()).unwrap_or(1);
        (first.max(Face::Small.width(&self.bounds)), lines * Face::Title.line() + 16)
    }

    /// Writes it, from this corner on.
    pub(super) fn write(&self, x: i64, y: i64, svg: &mut String) -> Result {
        let mut base = y - 8;
        for line in &self.name {
            base += Face::Title.line();
            writeln!(svg, "<text class=\"title\" x=\"{x}\" y=\"{base}\">{}</text>", escape(line))?;
        }
        let after = x + self.name.last().map_or(0, |line| Face::Title.width(line)) + 12;
        let (about, bounds) = (escape(&self.about), escape(&self.bounds));
        writeln!(svg, "<text class=\"small\" x=\"{after}\" y=\"{base}\">{about}</text>")?;
        writeln!(svg, "<text class=\"small\" x=\"{x}\" y=\"{}\">{bounds}</text>", base + 17)
    }
}

/// A piece of the panel.
struct Block {
    head: &'static str,
    rows: Vec<Row>,
    columns: Vec<i64>,
}

type Row = Vec<(Face, String)>;

#[derive(Clone, Copy)]
enum Sign {
    Kind(CardKind),
    Way(&'static str),
    Pill,
}

impl Block {
    fn new(head: &'static str, rows: Vec<Row>) -> Self {
        let mut columns: Vec<i64> = Vec::new();
        for row in &rows {
            columns.resize(columns.len().max(row.len()), 0);
            for (column, (face, text)) in columns.iter_mut().zip(row) {
                *column = (*column).max(face.width(text));
            }
        }
        Self { head, rows, columns }
    }

    fn size(&self) -> (i64, i64) {
        let gaps = i64::try_from(self.columns.len().saturating_sub(1)).unwrap_or(0) * COLUMN;
        let rows = i64::try_from(self.rows.len()).unwrap_or(0);
        let wide = self.columns.iter().sum::<i64>() + gaps;
        (wide.max(Face::Name.width(self.head)), (rows + 1) * LINE + 6)
    }

    fn write(&self, x: i64, y: i64, svg: &mut String) -> Result {
        writeln!(svg, "<text class=\"name\" x=\"{x}\" y=\"{}\">{}</text>", y + 12, self.head)?;
        let mut base = y + 14;
        for row in &self.rows {
            base += LINE;
            let mut at = x;
            for ((face, text), column) in row.iter().zip(&self.columns) {
                let (class, text) = (face.class(), escape(text));
                writeln!(svg, "<text class=\"{class}\" x=\"{at}\" y=\"{base}\">{text}</text>")?;
                at += column + COLUMN;
            }
        }
        Ok(())
    }
}

impl Sign {
    /// Writes the sign to the right of `x`, around the height `y`.
    fn write(self, x: i64, y: i64, svg: &mut String) -> Result {
        match self {
            Self::Kind(kind) => {
                writeln!(svg, "<g class=\"{}\">", shape::class(kind))?;
                shape::badge(kind, x + SIGN / 2, y, svg)?;
                writeln!(svg, "</g>")
            }
            Self::Way(class) => {
                writeln!(svg, "<path class=\"way{class}\" d=\"M{x} {y}H{}\"/>", x + SIGN)
            }
            Self::Pill => shape::pill("−1", x + SIGN / 2, y - 8, svg),
        }
    }
}

/// Where things begin.
type Corners = Vec<(i64, i64)>;

/// The tables below the picture and the legend below them.
pub(super) struct Panel {
    blocks: Vec<Block>,
    signs: Vec<(Sign, &'static str)>,
}

impl Panel {
    /// Gathers what the chart has to tell beside its arrows.
    pub(super) fn new(chart: &Chart, plan: &DrawPlan, back: bool) -> Self {
        let mut blocks = Vec::new();
        if !chart.budgets().is_empty() {
            let small = |text: &str| (Face::Small, text.to_owned());
            let heads = ["name", "max", "counts", "refilled by", "when used up"].map(small);
            let mut rows = vec![heads.to_vec()];
            rows.extend(chart.budgets().iter().map(|budget| told(chart, budget)));
            blocks.push(Block::new("Budgets", rows));
        }
        let row = |(event, to): (&str, StateId)| {
            let to = format!("→ {}", chart.state_name(to));
            vec![(Face::Code, event.into()), (Face::Code, to)]
        };
        blocks.push(Block::new("From any state", any(chart).map(row).collect()));
        Self { blocks, signs: legend(plan, back) }
    }

    /// Returns the width of the widest block.
    pub(super) fn least(&self) -> i64 {
        self.blocks.iter().map(|block| block.size().0).max().unwrap_or(0)
    }

    /// Returns the place of every block and of every sign within a width, and the
    /// height of them all.
    fn flow(&self, width: i64) -> (Corners, Corners, i64) {
        let (mut x, mut y, mut high) = (0, 0, 0);
        let mut places = Vec::new();
        for block in &self.blocks {
            let (wide, tall) = block.size();
            if x > 0 && x + wide > width {
                (x, y, high) = (0, y + high + 12, 0);
            }
            places.push((x, y));
            x += wide + GAP;
            high = high.max(tall);
        }
        y += high + 16;
        let widths = self.signs.iter().map(|(_, text)| Face::Small.width(text));
        let cell = SIGN + 8 + widths.max().unwrap_or(0) + COLUMN;
        let mut signs = Vec::new();
        x = 0;
        for _ in &self.signs {
            if x > 0 && x + cell > width {
                (x, y) = (0, y + SIGNS);
            }
            signs.push((x, y));
            x += cell;
        }
        (places, signs, y + SIGNS)
    }

    /// Returns how high it is within a width.
    pub(super) fn height(&self, width: i64) -> i64 {
        self.flow(width).2
    }

    /// Writes it, from this corner on.
    pub(super) fn write(&self, x: i64, y: i64, width: i64, svg: &mut String) -> Result {
        let (places, signs, _) = self.flow(width);
        for (block, place) in self.blocks.iter().zip(places) {
            block.write(x + place.0, y + place.1, svg)?;
        }
        for ((sign, text), place) in self.signs.iter().zip(signs) {
            let (x, y) = (x + place.0, y + place.1);
            sign.write(x, y + 8, svg)?;
            let after = x + SIGN + 8;
            writeln!(svg, "<text class=\"small\" x=\"{after}\" y=\"{}\">{text}</text>", y + 12)?;
        }
        Ok(())
    }
}

fn legend(plan: &DrawPlan, back: bool) -> Vec<(Sign, &'static str)> {
    let kinds = [
        (CardKind::Run, "runs a job with effects"),
        (CardKind::Decide, "decides, by a pure job"),
        (CardKind::Await, "awaits an event"),
        (CardKind::FanOut, "runs a job per item, then joins"),
    ];
    let used =
        kinds.into_iter().filter(|(kind, _)| plan.cards.iter().any(|card| card.kind == *kind));
    let mut signs: Vec<_> = used.map(|(kind, text)| (Sign::Kind(kind), text)).collect();
    if let Some(end) = plan.cards.iter().find(|card| matches!(card.kind, CardKind::Final(_))) {
        signs.push((Sign::Kind(end.kind), "ends the run"));
    }
    if back {
        signs.push((Sign::Way(" back"), "leads back"));
    }
    if plan.arrows.iter().any(|arrow| arrow.influenced) {
        signs.push((Sign::Way(" influenced"), "a model can cause it"));
    }
    if plan.arrows.iter().any(|arrow| arrow.pill.is_some()) {
        signs.push((Sign::Pill, "spends a budget"));
    }
    signs
}

fn told(chart: &Chart, budget: &Budget) -> Vec<(Face, String)> {
    let max = match budget.charge() {
        Some(Charge::Time) => duration(budget.max()),
        Some(Charge::Money) => {
            format!("{}.{:06}", budget.max() / 1_000_000, budget.max() % 1_000_000)
        }
        _ => grouped(budget.max()),
    };
    let counts = match budget.charge() {
        None => "arrows",
        Some(Charge::Step) => "state visits",
        Some(Charge::ModelCall) => "model calls",
        Some(Charge::ToolCall) => "tool calls",
        Some(Charge::Token) => "tokens",
        Some(Charge::Interaction) => "interactions",
        Some(Charge::Action) => "actions",
        Some(Charge::OutsideApp) => "actions outside the app",
        Some(Charge::Time) => "time",
        Some(Charge::Money) => "money",
        Some(_) => "work",
    };
    let refilled = match budget.reset() {
        None => "–".to_owned(),
        Some(Reset::Spending(by)) => chart.budget(by).map_or("?", Budget::name).to_owned(),
        Some(_) => "an awaited event".to_owned(),
    };
    vec![
        (Face::Code, budget.name().to_owned()),
        (Face::Small, max),
        (Face::Small, counts.to_owned()),
        (Face::Small, refilled),
        (Face::Code, format!("→ {}", chart.state_name(budget.otherwise()))),
    ]
}
