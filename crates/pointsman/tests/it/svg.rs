//! Charts as pictures: the files in `docs/graphs`, and what every picture must have.

use std::{fs, path::Path};

use pointsman_agents::{CHARTS, registry};
use pointsman_kernel::chart::verify;

use crate::{TempFolder, stdout};

fn drawn(chart: &str, theme: &str) -> String {
    stdout(&["graph", chart, "--format", "svg", "--theme", theme])
}

#[test]
fn pictures_in_docs_are_up_to_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/graphs");
    for (name, _) in CHARTS {
        let path = folder.join(format!("{name}.svg"));
        let kept = fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
        assert!(
            kept == stdout(&["graph", name, "--format", "svg"]),
            "docs/graphs/{name}.svg is out of date; refresh it with\n  \
             cargo run -p pointsman -- graph {name} --format svg > docs/graphs/{name}.svg"
        );
    }
}

#[test]
fn every_name_of_a_chart_is_in_its_picture() {
    for (name, text) in CHARTS {
        let chart = verify(text, &registry()).expect("the chart is accepted");
        let svg = drawn(name, "auto");
        let texts = texts(&svg);
        for state in chart.states() {
            let written = texts.iter().any(|text| text.contains(state.name()));
            assert!(written, "{name}: the state `{}` is not written", state.name());
            for way in state.routes() {
                let word = |text: &String| {
                    text.split(", ").any(|word| word.trim_end_matches(',') == way.name())
                };
                assert!(texts.iter().any(word), "{name}: the outcome `{}` is missing", way.name());
            }
        }
        for budget in chart.budgets() {
            assert!(texts.iter().any(|text| text == budget.name()), "{name}: {}", budget.name());
            let pill = format!("−1 {}", budget.name());
            assert_eq!(texts.contains(&pill), budget.charge().is_none(), "{name}: {pill}");
        }
    }
}

#[test]
fn pictures_are_well_formed_and_the_same_every_time() {
    for (name, _) in CHARTS {
        for theme in ["auto", "light", "dark"] {
            let svg = drawn(name, theme);
            well_formed(&svg);
            assert_eq!(svg, drawn(name, theme), "{name} differs from time to time");
            assert_eq!(svg.contains("@media"), theme == "auto", "{name}: {theme}");
            for part in ["role=\"img\"", "<title id=\"pm-title\">", "<desc id=\"pm-desc\">"] {
                assert!(svg.contains(part), "{name} has no {part}");
            }
        }
        assert_ne!(drawn(name, "light"), drawn(name, "dark"));
    }
}

#[test]
fn a_chart_of_two_states_and_one_with_long_names_can_be_drawn() {
    let folder = TempFolder::new("svg");
    for name in ["go", "a_state_with_a_name_of_exactly_sixty_letters_which_is_too_lon"] {
        let text = format!(
            "chart = \"{name}\"\nversion = 1\njobs = \"builtin\"\nstart = \"{name}\"\n\
             authority = \"text\"\n[any]\ncancel = \"end\"\n[state.{name}]\n\
             await = [\"input\", \"input_closed\"]\non.input = \"end\"\non.input_closed = \"end\"\n\
             [state.end]\nfinal = \"succeeded\"\n"
        );
        let path = folder.0.join(format!("{name}.toml"));
        fs::write(&path, text).expect("the file is written");
        let svg = drawn(path.to_str().expect("the path is text"), "auto");
        well_formed(&svg);
        assert!(svg.contains(&format!("<title>{name}</title>")), "{svg}");
    }
}

/// Returns the content of every `text` element, entities undone.
fn texts(svg: &str) -> Vec<String> {
    let inner = |piece: &str| Some(piece.split_once('>')?.1.split_once("</text>")?.0.to_owned());
    let undone = |text: String| {
        text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
    };
    svg.split("<text ").skip(1).filter_map(inner).map(undone).collect()
}

/// Checks that tags are nested, attributes quoted and texts escaped.
fn well_formed(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = svg;
    while let Some((text, after)) = rest.split_once('<') {
        check_text(text);
        let (tag, after) = after.split_once('>').expect("a tag is closed");
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "`{name}` is closed out of order");
            continue;
        }
        let (tag, alone) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(name.chars().all(|letter| letter.is_ascii_alphabetic()), "<{tag}>");
        let quotes: Vec<&str> = attributes.split('"').collect();
        assert!(quotes.len() % 2 == 1, "<{tag}> has an open quote");
        for (at, part) in quotes.iter().enumerate() {
            let between = at % 2 == 0;
            assert!(!between || part.is_empty() || part.ends_with('='), "<{tag}>");
            check_text(part);
        }
        if !alone {
            open.push(name);
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} {rest}");
}

fn check_text(text: &str) {
    for after in text.split('&').skip(1) {
        let known = ["amp;", "lt;", "gt;", "quot;"].iter().any(|name| after.starts_with(name));
        assert!(known, "an ampersand is not escaped: {text}");
    }
}
