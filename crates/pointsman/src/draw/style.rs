//! The style sheet: what things look like, by light and by dark.
//!
//! Colours are in the rules themselves and not in variables: librsvg, resvg and Inkscape do not
//! support `var()`, and would draw everything black.

use std::fmt::{Result, Write};

use super::Theme;

/// The rules that are the same in both themes.
const SHAPES: &str = "\
.pm text{font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",Arial,sans-serif}
.pm .title{font-size:20px;font-weight:700}
.pm .name{font-size:13px;font-weight:600}
.pm .label{font-size:11px}
.pm .small,.pm .pill-text{font-size:10px}
.pm .code{font-size:10px;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,\"DejaVu Sans Mono\",monospace}
.pm .letter{font-size:10px;font-weight:700}
.pm .middle{text-anchor:middle}
.pm .card{stroke-width:1.5}
.pm .inner{fill:none;stroke-width:1}
.pm .note,.pm .tie{fill:none;stroke-width:1;stroke-dasharray:3 3}
.pm .way{fill:none;stroke-width:1.5;stroke-linejoin:round}
.pm .influenced{stroke-dasharray:5 3}
.pm .chevron{fill:none;stroke-width:1.8;stroke-linecap:round;stroke-linejoin:round}
.pm .rule{stroke-width:1}
";

const COLOURS: &Colours = &[
    (".paper", "fill", "#ffffff", "#0d1117"),
    (".paper,.rule", "stroke", "#d5dce4", "#30363d"),
    (".title,.name", "fill", "#1b2733", "#e6edf3"),
    (".code", "fill", "#3d4b5c", "#b6c2cf"),
    (".small", "fill", "#566373", "#9aa7b4"),
    (".label", "fill", "#27333f", "#d5dde6"),
    (".label.influenced-text", "fill", "#a8128b", "#f48ade"),
    (".letter", "fill", "#ffffff", "#0d1117"),
    (".tag", "fill", "#ffffff", "#0d1117"),
    (".pill", "fill", "#fdf0d5", "#3a2a0c"),
    (".pill", "stroke", "#c98a1b", "#a8782a"),
    (".pill-text", "fill", "#7a4d05", "#f2c878"),
    (".note,.tie", "stroke", "#8793a1", "#768390"),
    (".start", "fill", "#1b2733", "#e6edf3"),
    (".way,.chevron", "stroke", "#64748b", "#8b98a8"),
    (".head", "fill", "#64748b", "#8b98a8"),
    (".way.influenced", "stroke", "#c026a3", "#e76bd0"),
    (".head.influenced", "fill", "#c026a3", "#e76bd0"),
    (".way.back,.chevron.back", "stroke", "#c2700c", "#e09a3e"),
    (".head.back", "fill", "#c2700c", "#e09a3e"),
];

/// Kind, then fill and line by light, fill and line by dark.
const KINDS: &[(&str, [&str; 2], [&str; 2])] = &[
    ("run", ["#eaf2fd", "#3b7dd8"], ["#14263d", "#5b9bf0"]),
    ("decide", ["#f1ecfd", "#7d5bd0"], ["#241c3c", "#a58bf0"]),
    ("await", ["#e4f6f0", "#178a6b"], ["#0f2f29", "#45c29c"]),
    ("fan_out", ["#e2f4fb", "#127fa5"], ["#0e2d3a", "#4bb8de"]),
    ("succeeded", ["#e5f5e6", "#2e8b3d"], ["#12301a", "#56c268"]),
    ("failed", ["#fdeaea", "#cf3f3f"], ["#3a1719", "#f07a7a"]),
    ("cancelled", ["#eef0f3", "#6b7785"], ["#22272e", "#98a4b1"]),
    ("budget", ["#fdf5dc", "#a8780a"], ["#332a0e", "#d8b13f"]),
    ("stuck", ["#fcebdc", "#c8641b"], ["#382312", "#ee9457"]),
    ("denied", ["#fbe7f1", "#b83b7a"], ["#381728", "#ea7bb0"]),
    ("ended", ["#eef0f3", "#6b7785"], ["#22272e", "#98a4b1"]),
];

/// Selectors, a property, and its value by light and by dark.
pub(crate) type Colours = [(&'static str, &'static str, &'static str, &'static str)];

/// Writes the sheet of a theme.
pub(super) fn sheet(theme: Theme, svg: &mut String) -> Result {
    themed(theme, SHAPES, svg, |dark, svg| {
        coloured("pm", COLOURS, dark, svg)?;
        for (kind, by_light, by_dark) in KINDS {
            let [fill, line] = if dark { by_dark } else { by_light };
            writeln!(svg, ".pm .{kind} .card{{fill:{fill};stroke:{line}}}")?;
            writeln!(svg, ".pm .{kind} .inner{{stroke:{line}}}.pm .{kind} .badge{{fill:{line}}}")?;
        }
        Ok(())
    })
}

/// Returns the sheet for figures in a page, which chooses the theme by its `color-scheme`.
pub(crate) fn of_page() -> String {
    let mut sheet = String::from(SHAPES);
    for (selectors, property, by_light, by_dark) in COLOURS {
        let of: Vec<String> = selectors.split(',').map(|it| format!(".pm {it}")).collect();
        let of = of.join(",");
        sheet.extend([format!("{of}{{{property}:light-dark({by_light},{by_dark})}}\n")]);
    }
    for (kind, [fill, line], [dark_fill, dark_line]) in KINDS {
        let (fill, line) =
            (format!("light-dark({fill},{dark_fill})"), format!("light-dark({line},{dark_line})"));
        sheet.extend([format!(
            ".pm .{kind} .card{{fill:{fill};stroke:{line}}}\n\
             .pm .{kind} .inner{{stroke:{line}}}.pm .{kind} .badge{{fill:{line}}}\n"
        )]);
    }
    sheet
}

/// Writes a style sheet: shapes, and colours for light, dark or the viewer's own setting.
pub(crate) fn themed(
    theme: Theme,
    shapes: &str,
    svg: &mut String,
    colours: impl Fn(bool, &mut String) -> Result,
) -> Result {
    writeln!(svg, "<style>")?;
    svg.push_str(shapes);
    colours(theme == Theme::Dark, svg)?;
    if theme == Theme::Auto {
        writeln!(svg, "@media (prefers-color-scheme:dark){{")?;
        colours(true, svg)?;
        writeln!(svg, "}}")?;
    }
    writeln!(svg, "</style>")
}

/// Writes the colours of a drawing of a class.
pub(crate) fn coloured(class: &str, colours: &Colours, dark: bool, svg: &mut String) -> Result {
    for (selectors, property, by_light, by_dark) in colours {
        let colour = if dark { by_dark } else { by_light };
        let of: Vec<String> = selectors.split(',').map(|it| format!(".{class} {it}")).collect();
        writeln!(svg, "{}{{{property}:{colour}}}", of.join(","))?;
    }
    Ok(())
}
