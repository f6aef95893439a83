//! A chart as an SVG picture, laid out here, without another program.
//!
//! In order: [`plan`] says what is drawn, [`rank`], [`grid`], [`order`], [`place`] and [`track`]
//! find its place, `layout` holds the places, and [`shape`], [`panel`] and [`style`] write them.
//! All numbers are whole pixels, so the same chart gives the same bytes everywhere.

mod grid;
mod layout;
mod order;
mod panel;
mod place;
mod plan;
mod rank;
mod shape;
pub(crate) mod style;
#[cfg(test)]
mod tests;
pub(crate) mod text;
mod track;

use std::fmt::{Result, Write};

use clap::ValueEnum;
use pointsman_kernel::{chart::Chart, job::AgentDecl};

use layout::{Layout, layout};
use panel::{ChartHeader, Panel};
use plan::{Arrow, DrawPlan};
use text::escape;

/// The room around everything.
const MARGIN: i64 = 24;
/// The room between the title, the picture and the panel.
const APART: i64 = 18;
/// No picture is narrower, so that the panel has its blocks side by side.
const LEAST: i64 = 680;

/// The colours of a picture.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Theme {
    /// Follow the viewer's system.
    Auto,
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

/// Draws a chart; the agent is the one whose jobs it uses.
pub(crate) fn svg(chart: &Chart, agent: Option<&AgentDecl>, theme: Theme) -> String {
    let plan = DrawPlan::new(chart, agent);
    let layout = layout(&plan);
    let mut svg = String::new();
    // Writing to a string cannot fail.
    let _: Result = write(chart, &plan, &layout, theme, &mut svg);
    svg
}

/// Draws the states and arrows of a chart alone, for a page with its own style sheet
/// ([`style::of_page`]). Attributes name the state of each card and the outcomes of each arrow.
pub(crate) fn figure(chart: &Chart, agent: Option<&AgentDecl>) -> String {
    let plan = DrawPlan::new(chart, agent);
    let layout = layout(&plan);
    let mut svg = String::new();
    // Writing to a string cannot fail.
    let _: Result = write_figure(chart, &plan, &layout, &mut svg);
    svg
}

fn write_figure(chart: &Chart, plan: &DrawPlan, layout: &Layout, svg: &mut String) -> Result {
    let (width, height) = (layout.width + 2 * APART, layout.height + 2 * APART);
    writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"pm\" role=\"img\" \
         width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">"
    )?;
    writeln!(svg, "<desc>{}</desc>", escape(&described(chart, plan)))?;
    writeln!(svg, "<g transform=\"translate({APART} {APART})\">")?;
    ways(plan, layout, true, svg)?;
    for (at, (arrow, place)) in plan.arrows.iter().zip(&layout.tags).enumerate() {
        let name = |card: usize| escape(&plan.cards[card].name);
        let (from, to) = (name(arrow.from), name(arrow.to));
        let outcomes = escape(&arrow.outcomes.join(" "));
        writeln!(
            svg,
            "<g class=\"edge\" data-arrow=\"{at}\" data-from=\"{from}\" data-to=\"{to}\" \
             data-outcomes=\"{outcomes}\" data-x=\"{}\" data-y=\"{}\">",
            place.x + place.width,
            place.y
        )?;
        shape::tag(arrow, &told(plan, arrow), *place, svg)?;
        writeln!(svg, "</g>")?;
    }
    for ((card, place), notes) in plan.cards.iter().zip(&layout.cards).zip(&layout.notes) {
        writeln!(svg, "<g class=\"state\" data-state=\"{}\">", escape(&card.name))?;
        shape::card(card, *place, notes, svg)?;
        writeln!(svg, "</g>")?;
    }
    writeln!(svg, "</g>\n</svg>")
}

fn write(
    chart: &Chart,
    plan: &DrawPlan,
    layout: &Layout,
    theme: Theme,
    svg: &mut String,
) -> Result {
    let panel = Panel::new(chart, plan, layout.back.contains(&true));
    let least = layout.width.max(LEAST).max(panel.least());
    let header = ChartHeader::new(chart, least);
    let (wide, high) = header.size();
    let inner = least.max(wide);
    let (left, top) = (MARGIN + (inner - layout.width) / 2, MARGIN + high + APART);
    let rule = top + layout.height + APART;
    let width = inner + 2 * MARGIN;
    let height = rule + APART + panel.height(inner) + MARGIN;
    writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"pm\" role=\"img\" \
         aria-labelledby=\"pm-title pm-desc\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\">"
    )?;
    let name = escape(chart.name());
    writeln!(svg, "<title id=\"pm-title\">The chart {name}, version {}</title>", chart.version())?;
    writeln!(svg, "<desc id=\"pm-desc\">{}</desc>", escape(&described(chart, plan)))?;
    style::sheet(theme, svg)?;
    let (w, h) = (width - 1, height - 1);
    writeln!(
        svg,
        "<rect class=\"paper\" x=\"0.5\" y=\"0.5\" width=\"{w}\" height=\"{h}\" rx=\"8\"/>"
    )?;
    header.write(MARGIN, MARGIN, svg)?;
    writeln!(svg, "<g transform=\"translate({left} {top})\">")?;
    ways(plan, layout, false, svg)?;
    for (arrow, place) in plan.arrows.iter().zip(&layout.tags) {
        shape::tag(arrow, &told(plan, arrow), *place, svg)?;
    }
    for ((card, place), notes) in plan.cards.iter().zip(&layout.cards).zip(&layout.notes) {
        shape::card(card, *place, notes, svg)?;
    }
    writeln!(svg, "</g>")?;
    writeln!(svg, "<path class=\"rule\" d=\"M{MARGIN} {rule}H{}\"/>", width - MARGIN)?;
    panel.write(MARGIN, rule + APART, inner, svg)?;
    writeln!(svg, "</svg>")
}

/// Writes the lines: dashed ones first, so that those they join stay whole. Each can be named.
fn ways(plan: &DrawPlan, layout: &Layout, named: bool, svg: &mut String) -> Result {
    let mut order: Vec<usize> = (0..plan.arrows.len()).collect();
    order.sort_by_key(|at| !plan.arrows[*at].influenced);
    let mut chevrons: Vec<(i64, i64)> = Vec::new();
    for at in order {
        let way = &layout.ways[at];
        let influenced = if plan.arrows[at].influenced { " influenced" } else { "" };
        let class = format!("{influenced}{}", if layout.back[at] { " back" } else { "" });
        if named {
            writeln!(svg, "<g class=\"line\" data-arrow=\"{at}\">")?;
        }
        shape::way(&class, way, svg)?;
        if let Some(end) = way.last() {
            shape::head(&class, *end, svg)?;
        }
        if named {
            writeln!(svg, "</g>")?;
        }
        chevrons.extend(climb(way).filter(|_| layout.back[at]));
    }
    chevrons.sort_unstable();
    chevrons.dedup_by(|one, two| one.0 == two.0 && (one.1 - two.1).abs() < 80);
    chevrons.into_iter().try_for_each(|place| shape::chevron(place, svg))
}

/// Returns the middle of the longest way up.
fn climb(way: &[(i64, i64)]) -> Option<(i64, i64)> {
    let up = way.windows(2).filter(|ends| ends[0].0 == ends[1].0 && ends[0].1 > ends[1].1);
    let longest = up.max_by_key(|ends| ends[0].1 - ends[1].1)?;
    Some((longest[0].0, i64::midpoint(longest[0].1, longest[1].1)))
}

/// Tells in a sentence what an arrow is.
fn told(plan: &DrawPlan, arrow: &Arrow) -> String {
    let (from, to) = (&plan.cards[arrow.from].name, &plan.cards[arrow.to].name);
    let pill = arrow.pill.as_ref().map_or_else(String::new, |pill| format!(" ({pill})"));
    format!("{from}: {} → {to}{pill}", arrow.outcomes.join(", "))
}

/// Describes the picture, for people who cannot see it.
fn described(chart: &Chart, plan: &DrawPlan) -> String {
    let mut text = format!(
        "A state chart of {} states with authority {}. Runs begin in {}.",
        plan.cards.len(),
        panel::level(chart),
        chart.state_name(chart.start())
    );
    for arrow in &plan.arrows {
        text.push(' ');
        text.push_str(&told(plan, arrow));
        text.push('.');
    }
    text
}
