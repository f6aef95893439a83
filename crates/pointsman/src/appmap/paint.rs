//! Writes a map as SVG.

use std::{
    fmt::{Result, Write},
    fs,
    path::Path,
};

use pointsman_agents::explore::{
    DeviceAction, Widget,
    map::{MapScreen, MishapKind},
};
use pointsman_webdriver::{device::thumbnail, exploration::Exploration};

use super::{
    MAX_PICTURES,
    scene::{CardSubject, GAP, MapCard, MapRoute, Scene},
    style, summary,
};
use crate::draw::{
    Theme,
    text::{Face, escape},
};

/// The room around everything, and below the heading.
const MARGIN: i64 = 24;
/// The picture of a screen on its card.
const PICTURE: (i64, i64) = (60, 124);
/// The stored width of pictures, for sharp displays.
const KEPT: u32 = 120;

/// Draws the map of an app.
pub(crate) fn svg(exploration: &Exploration, theme: Theme) -> String {
    let own = exploration.map.screens.iter().filter(|it| !it.dialog);
    let pictured = own.count() <= MAX_PICTURES;
    let scene = Scene::new(&exploration.map, pictured);
    let mut svg = String::new();
    // Writing to a string cannot fail.
    let _: Result = write(exploration, &scene, pictured, theme, &mut svg);
    svg
}

fn write(
    it: &Exploration,
    scene: &Scene,
    pictured: bool,
    theme: Theme,
    svg: &mut String,
) -> Result {
    let map = &it.map;
    let title = format!("Map of {}", map.app);
    let mut lines = vec![summary(it)];
    lines.extend(it.stopped.as_ref().map(|why| format!("Stopped: {why}")));
    let recording = map.recording.as_ref().map(|file| {
        let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
        format!("A recording, not a device: {name}")
    });
    lines.extend(recording);
    let wide = lines.iter().map(|line| Face::Label.width(line)).max().unwrap_or(0);
    let wide = wide.max(Face::Title.width(&title)).max(LEGEND_WIDTH);
    let high = 26 + 16 * i64::try_from(lines.len()).unwrap_or(0) + 14;
    let (width, top) = (scene.width.max(wide) + 2 * MARGIN, MARGIN + high);
    let height = top + scene.height + 44 + MARGIN;
    writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"am\" role=\"img\" \
         aria-labelledby=\"am-title am-desc\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\">"
    )?;
    writeln!(svg, "<title id=\"am-title\">{}</title>", escape(&title))?;
    writeln!(svg, "<desc id=\"am-desc\">{}</desc>", escape(&lines.join(". ")))?;
    style::sheet(theme, svg)?;
    let (w, h) = (width - 1, height - 1);
    writeln!(
        svg,
        "<rect class=\"paper\" x=\"0.5\" y=\"0.5\" width=\"{w}\" height=\"{h}\" rx=\"8\"/>"
    )?;
    text("title", MARGIN, MARGIN + 18, &title, svg)?;
    for (line, y) in lines.iter().zip((MARGIN + 40..).step_by(16)) {
        text("label", MARGIN, y, line, svg)?;
    }
    writeln!(svg, "<g transform=\"translate({MARGIN} {top})\">")?;
    // The ways across lie below the tree, and that below the cards.
    for way in scene.ways.iter().filter(|it| !it.tree) {
        cross(scene, way, svg)?;
    }
    for way in scene.ways.iter().filter(|it| it.tree) {
        branch(scene, way, svg)?;
    }
    for card in &scene.cards {
        write_card(it, card, pictured, svg)?;
    }
    writeln!(svg, "</g>")?;
    legend(MARGIN, top + scene.height + 24, svg)?;
    writeln!(svg, "</svg>")
}

fn text(class: &str, x: i64, y: i64, text: &str, svg: &mut String) -> Result {
    writeln!(svg, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>", escape(text))
}

/// Cuts a text to a width.
fn cut(face: Face, text: &str, width: i64) -> String {
    if face.width(text) <= width {
        return text.into();
    }
    let mut kept = String::new();
    for letter in text.chars() {
        kept.push(letter);
        if face.width(&format!("{kept}…")) > width {
            kept.pop();
            break;
        }
    }
    format!("{}…", kept.trim_end())
}

fn class(card: &MapCard) -> &'static str {
    match card.what {
        CardSubject::Screen(_) => "",
        CardSubject::Wrong(..) => " crash",
        CardSubject::Outside(_) => " outside",
    }
}

/// Writes a way of the tree: a bend out of the parent, then straight below its label.
fn branch(scene: &Scene, way: &MapRoute, svg: &mut String) -> Result {
    let (from, to) = (&scene.cards[way.from], &scene.cards[way.to]);
    let (x, y) = (from.x + from.width, from.y + from.height / 2);
    let (left, middle) = (to.x, to.y + to.height / 2);
    // Cards of a column may be narrower than the widest one.
    let turn = to.x - GAP.0 + 46;
    let class = class(to);
    let bend = i64::midpoint(x, turn);
    writeln!(svg, "<g><title>{}</title>", escape(&way.told))?;
    writeln!(
        svg,
        "<path class=\"way{class}\" d=\"M{x} {y}C{bend} {y} {bend} {middle} {turn} {middle}H{}\"/>",
        left - 7
    )?;
    head(class, (left, middle), false, svg)?;
    if way.both {
        head(class, (x, y), true, svg)?;
    }
    let label = cut(Face::Label, &way.label, GAP.0 - 60);
    if scene.ways.iter().any(|it| !it.tree) {
        // Ways across must not strike through the label.
        writeln!(
            svg,
            "<rect class=\"blank\" x=\"{turn}\" y=\"{}\" width=\"{}\" height=\"12\"/>",
            middle - 14,
            Face::Label.width(&label)
        )?;
    }
    text("label", turn, middle - 5, &label, svg)?;
    writeln!(svg, "</g>")
}

/// Writes a way across the tree: out of a card to the right, and into the other one.
fn cross(scene: &Scene, way: &MapRoute, svg: &mut String) -> Result {
    let (from, to) = (&scene.cards[way.from], &scene.cards[way.to]);
    // Above and below the ways of the tree, which meet the middle of a card.
    let (x, y) = (from.x + from.width, from.y + from.height / 2 + 10);
    let middle = to.y + to.height / 2 + 10;
    let forward = to.x > from.x;
    let end = if forward { to.x - 7 } else { to.x + to.width + 7 };
    let (out, back) = if forward { (x + 60, end - 60) } else { (x + 46, end + 46) };
    writeln!(svg, "<g><title>{}</title>", escape(&way.told))?;
    writeln!(
        svg,
        "<path class=\"cross\" d=\"M{x} {y}C{out} {y} {back} {middle} {end} {middle}\"/>"
    )?;
    head(" cross", (if forward { to.x } else { to.x + to.width }, middle), !forward, svg)?;
    writeln!(svg, "</g>")
}

/// Writes an arrowhead that points to the right or to the left.
fn head(class: &str, (x, y): (i64, i64), left: bool, svg: &mut String) -> Result {
    let tail = if left { x + 8 } else { x - 8 };
    writeln!(svg, "<path class=\"head{class}\" d=\"M{x} {y}L{tail} {}V{}z\"/>", y - 4, y + 4)
}

fn write_card(it: &Exploration, card: &MapCard, pictured: bool, svg: &mut String) -> Result {
    let map = &it.map;
    let MapCard { x, y, width, height, .. } = *card;
    let screen = match &card.what {
        CardSubject::Screen(at) => map.screens.get(*at),
        CardSubject::Wrong(..) | CardSubject::Outside(_) => None,
    };
    let dead = screen.is_some_and(|screen| map.dead_ends().any(|id| *id == screen.id));
    let mut classes = String::from(class(card).trim_start());
    for (name, on) in
        [("start", card.start), ("dialog", screen.is_some_and(|it| it.dialog)), ("dead", dead)]
    {
        if on {
            classes.push(' ');
            classes.push_str(name);
        }
    }
    writeln!(svg, "<g class=\"{}\">", classes.trim_start())?;
    writeln!(
        svg,
        "<rect class=\"card\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"6\"/>"
    )?;
    match (&card.what, screen) {
        (CardSubject::Wrong(at, kind), _) => {
            let times = map.edges.get(*at).map_or(1, |edge| edge.times);
            let name = match kind {
                MishapKind::NotResponding => "does not respond",
                _ => "crash",
            };
            text("name", x + 10, y + 22, &format!("✕ {name} ×{times}"), svg)?;
        }
        (CardSubject::Outside(package), _) => {
            let name = if package.is_empty() { "another app" } else { package };
            text("code", x + 10, y + 22, &cut(Face::Code, name, width - 20), svg)?;
        }
        (CardSubject::Screen(_), Some(screen)) => {
            let left = if pictured { x + PICTURE.0 + 20 } else { x + 10 };
            if pictured {
                picture(it, screen, (x + 10, y + (height - PICTURE.1) / 2), svg)?;
            }
            words(screen, card, (left, dead), svg)?;
        }
        (CardSubject::Screen(_), None) => {}
    }
    writeln!(svg, "</g>")
}

/// Writes the title and the figures of a screen on its card.
pub(super) fn words(
    screen: &MapScreen,
    card: &MapCard,
    (left, dead): (i64, bool),
    svg: &mut String,
) -> Result {
    let room = card.x + card.width - left - 8;
    let tall = card.height > 100;
    let name = screen.name();
    let mut y = card.y + 20;
    let lines = Face::Name.wrap(&name, room);
    let most = if tall { 3 } else { 1 };
    for (at, line) in lines.iter().take(most).enumerate() {
        let more = at + 1 == most && lines.len() > most;
        let line = if more { cut(Face::Name, &format!("{line}…"), room) } else { line.clone() };
        text("name", left, y, &line, svg)?;
        y += Face::Name.line();
    }
    let mark = match (dead, card.start) {
        (true, _) => "dead end",
        (false, true) => "start",
        (false, false) if screen.dialog => "system dialog",
        (false, false) => "",
    };
    if !mark.is_empty() && tall {
        text("mark", left, card.y + card.height - 8, mark, svg)?;
    } else if !mark.is_empty() {
        text("mark end", card.x + card.width - 8, y, mark, svg)?;
    }
    let activity = screen.activity.rsplit(['.', '/']).next().unwrap_or_default();
    if !activity.is_empty() {
        // On a small card the mark is on the same line.
        let taken = if tall || mark.is_empty() { 0 } else { Face::Name.width(mark) };
        text("code", left, y, &cut(Face::Code, activity, room - taken), svg)?;
    }
    if !activity.is_empty() || !tall {
        y += Face::Code.line() + 2;
    }
    let tried = format!("{} of {} tried", screen.tried, screen.seen);
    text("small", left, y, &tried, svg)?;
    if tall {
        y += Face::Small.line() + 1;
        let visits = if screen.visits == 1 { "visit" } else { "visits" };
        text("small", left, y, &format!("{} {visits}", screen.visits), svg)?;
    }
    if card.more > 0 {
        let ways = if card.more == 1 { "way" } else { "ways" };
        let more = format!("+{} other {ways}", card.more);
        if tall {
            y += Face::Small.line() + 1;
            text("small", left, y, &more, svg)?;
        } else {
            text("small", left + Face::Small.width(&tried) + 8, y, &more, svg)?;
        }
    }
    Ok(())
}

/// Writes the picture of a screen, or where there is none a sketch of its widgets.
fn picture(it: &Exploration, screen: &MapScreen, (x, y): (i64, i64), svg: &mut String) -> Result {
    let (width, height) = PICTURE;
    let kept = screen.picture.as_ref().and_then(|name| fs::read(it.blobs.join(name)).ok());
    if let Some(address) = kept.and_then(|bytes| thumbnail(&bytes, KEPT)) {
        return writeln!(
            svg,
            "<image x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" href=\"{address}\"/>"
        );
    }
    writeln!(
        svg,
        "<rect class=\"screenful\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"3\"/>"
    )?;
    sketch(&screen.widgets, (x + 2, y + 2, width - 4, height - 4), svg)
}

fn sketch(
    widgets: &[Widget],
    (x, y, width, height): (i64, i64, i64, i64),
    svg: &mut String,
) -> Result {
    let bounds = || widgets.iter().filter_map(|it| it.bounds);
    let right = bounds().map(|it| i64::from(it.right)).max().unwrap_or(0).max(1);
    let bottom = bounds().map(|it| i64::from(it.bottom)).max().unwrap_or(0);
    // Most screens are twice as high as wide: a dialog must not fill the sketch.
    let bottom = bottom.max(right * height / width.max(1));
    for widget in widgets.iter().take(60) {
        let Some(bounds) = widget.bounds else { continue };
        let of = |value: i32, size: i64, most: i64| i64::from(value).clamp(0, most) * size / most;
        let (left, top) = (of(bounds.left, width, right), of(bounds.top, height, bottom));
        let wide = (of(bounds.right, width, right) - left).max(1);
        let mut high = (of(bounds.bottom, height, bottom) - top).max(1);
        let class = if widget.acts.contains(&DeviceAction::Swipe) {
            "scroll"
        } else if widget.field.is_some() {
            "input"
        } else if widget.weak {
            high = high.min(3);
            "words"
        } else {
            "button"
        };
        // Neighbours stay apart.
        let (wide, high) = ((wide - 1).max(1), (high - 1).max(1));
        writeln!(
            svg,
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{wide}\" height=\"{high}\"/>",
            x + left,
            y + top
        )?;
    }
    Ok(())
}

const LEGEND: &str = "Thick arrows: actions on the shortest known paths from the start. Thin arrows: other paths. Red: the app crashed or hung. ×n: seen n times. Orange: dead end.";
const LEGEND_WIDTH: i64 = 620;

fn legend(x: i64, y: i64, svg: &mut String) -> Result {
    for (line, y) in Face::Small.wrap(LEGEND, LEGEND_WIDTH).iter().zip((y..).step_by(14)) {
        text("small", x, y, line, svg)?;
    }
    Ok(())
}

/// Draws one screen, for a page that holds the style sheet of a map.
pub(crate) fn still(it: &Exploration, screen: &MapScreen) -> String {
    let (width, height) = PICTURE;
    let mut svg = format!(
        "<svg class=\"am\" role=\"img\" aria-label=\"{}\" width=\"{}\" height=\"{}\" \
         viewBox=\"0 0 {width} {height}\">\n",
        escape(&screen.name()),
        width * 3 / 2,
        height * 3 / 2
    );
    // Writing to a string cannot fail.
    let _: Result = picture(it, screen, (0, 0), &mut svg);
    svg.push_str("</svg>\n");
    svg
}
