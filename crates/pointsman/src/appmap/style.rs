//! The style sheet of a map, by light and by dark.
//!
//! Colours are written in the rules themselves: several programs that draw SVG know no
//! variables.

use std::fmt::{Result, Write};

use crate::draw::{
    Theme,
    style::{Colours, coloured, themed},
};

const SHAPES: &str = "\
.am text{font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",Arial,sans-serif}
.am .title{font-size:20px;font-weight:700}
.am .name{font-size:13px;font-weight:600}
.am .label{font-size:11px}
.am .small,.am .mark{font-size:10px}
.am .mark{font-weight:700}
.am .end{text-anchor:end}
.am .code{font-size:10px;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,\"DejaVu Sans Mono\",monospace}
.am .way{fill:none;stroke-width:1.5}
.am .cross{fill:none;stroke-width:1;opacity:.45}
.am .card{stroke-width:1.5}
.am .dead .card{stroke-width:2.5}
.am .outside .card,.am .way.outside{stroke-dasharray:4 3}
.am .scroll{fill:none;stroke-width:1}
.am .rule{stroke-width:1}
";

const COLOURS: &Colours = &[
    (".paper,.blank", "fill", "#ffffff", "#0d1117"),
    (".paper,.rule", "stroke", "#d5dce4", "#30363d"),
    (".title,.name", "fill", "#1b2733", "#e6edf3"),
    (".code,.label", "fill", "#3d4b5c", "#b6c2cf"),
    (".small", "fill", "#566373", "#9aa7b4"),
    (".way,.cross", "stroke", "#64748b", "#8b98a8"),
    (".head", "fill", "#64748b", "#8b98a8"),
    (".start .card", "stroke", "#2e8b3d", "#56c268"),
    (".start .mark", "fill", "#2e8b3d", "#56c268"),
    (".dead .card", "stroke", "#c8641b", "#ee9457"),
    (".dead .mark", "fill", "#b4540f", "#ee9457"),
    (".dialog .mark", "fill", "#6544b8", "#b9a4f5"),
    (".crash .card", "fill", "#fdeaea", "#3a1719"),
    (".crash .card,.way.crash", "stroke", "#cf3f3f", "#f07a7a"),
    (".crash .name", "fill", "#a52222", "#f5a3a3"),
    (".head.crash", "fill", "#cf3f3f", "#f07a7a"),
    (".screenful", "fill", "#ffffff", "#161b22"),
    (".screenful", "stroke", "#c4cdd7", "#3b434d"),
    (".button", "fill", "#b9d2f5", "#2d4f7c"),
    (".words", "fill", "#d9dfe6", "#333b45"),
    (".input", "fill", "#f6e3b4", "#5a4716"),
    (".scroll", "stroke", "#a9b6c4", "#4a5563"),
];

/// Kind, then fill and line by light, fill and line by dark.
const KINDS: [(&str, [&str; 2], [&str; 2]); 3] = [
    ("", ["#eaf2fd", "#3b7dd8"], ["#14263d", "#5b9bf0"]),
    (".dialog ", ["#f1ecfd", "#7d5bd0"], ["#241c3c", "#a58bf0"]),
    (".outside ", ["#eef0f3", "#6b7785"], ["#22272e", "#98a4b1"]),
];

/// Writes the sheet of a theme.
pub(super) fn sheet(theme: Theme, svg: &mut String) -> Result {
    themed(theme, SHAPES, svg, |dark, svg| {
        // More specific rules come later.
        for (kind, by_light, by_dark) in KINDS {
            let [fill, line] = if dark { by_dark } else { by_light };
            writeln!(svg, ".am {kind}.card{{fill:{fill};stroke:{line}}}")?;
        }
        coloured("am", COLOURS, dark, svg)
    })
}
