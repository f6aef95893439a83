//! `pointsman screen`: what the explore agent sees in a UI hierarchy.

use std::{
    fmt::Write as _,
    fs,
    io::Read as _,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use pointsman_agents::explore::{Screen, Tree};
use pointsman_webdriver::device::hierarchy;
use serde_json::{Value, json};

use crate::{
    error::ExploreError,
    format,
    report::{self, Error},
};

/// Characters of a label that the table shows.
const SHOWN: usize = 40;
/// Bytes of a hierarchy at most.
const MAX_BYTES: u64 = 64 << 20;

/// List the actions that `explore` finds on a screen, from a dump of its UI hierarchy.
#[derive(Args, Debug)]
#[command(after_help = "\
The file is the output of `adb shell uiautomator dump` or Appium's page source, for Android or iOS.
`coarse` and `fine` identify the screen. `coarse` ignores most text, check marks and the number of
rows in a list; `fine` includes check marks, choices and text, with digits removed.

Examples:
  adb exec-out uiautomator dump /dev/tty | pointsman screen -
  pointsman screen window_dump.xml --json | jq '.actions[].label'

Exit codes: 0 success, even without actions, 2 not a UI hierarchy, or a missing file.")]
pub(crate) struct ShowScreen {
    /// The file with the hierarchy, or `-` for standard input.
    file: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl ShowScreen {
    pub(crate) fn run(self) -> Result<ExitCode, Error> {
        let text = read(&self.file)?;
        // `uiautomator dump /dev/tty` says behind the document where it was written.
        let end = text.rfind('>').map_or(0, |at| at.saturating_add(1));
        let tree = hierarchy::parse(text.get(..end).unwrap_or(&text))
            .map_err(|source| ExploreError::Hierarchy { path: self.file.clone(), source })
            .map_err(Error::Explore)?;
        let screen = Screen::read(&tree, package(&tree), "");
        let text = if self.json { format!("{}\n", object(&tree, &screen)) } else { table(&screen) };
        report::data(&text)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn read(path: &Path) -> Result<String, Error> {
    let unread = |source| Error::Read { path: path.display().to_string(), source };
    let mut text = String::new();
    if path == Path::new("-") {
        std::io::stdin().take(MAX_BYTES).read_to_string(&mut text).map_err(unread)?;
    } else {
        let file = fs::File::open(path).map_err(unread)?;
        file.take(MAX_BYTES).read_to_string(&mut text).map_err(unread)?;
    }
    Ok(text)
}

/// Returns the app in front: that of the first window that is not the system's bars.
fn package(tree: &Tree) -> &str {
    let mut packages = tree.elements.iter().map(|it| &*it.package).filter(|it| !it.is_empty());
    packages.find(|package| *package != "com.android.systemui").unwrap_or_default()
}

/// The screen as JSON: every key is always there.
fn object(tree: &Tree, screen: &Screen) -> Value {
    let bounds = |widget: &pointsman_agents::explore::Widget| {
        widget.bounds.map(|it| [it.left, it.top, it.right, it.bottom])
    };
    let actions = screen.widgets.iter().flat_map(|widget| {
        widget.acts.iter().map(move |act| {
            json!({
                "key": format!("{} {} {}", act.name(), widget.key, widget.row),
                "kind": act.name(),
                "class": widget.class,
                "label": widget.label,
                "bounds": bounds(widget),
            })
        })
    });
    json!({
        "platform": tree.platform.name(),
        "package": screen.package,
        "identity": { "coarse": screen.coarse, "fine": screen.fine },
        "nodes": tree.elements.len(),
        "actions": actions.collect::<Vec<_>>(),
    })
}

fn table(screen: &Screen) -> String {
    let mut text = format!(
        "{}  coarse {}  fine {}\n",
        if screen.package.is_empty() { "(no package)" } else { &screen.package },
        screen.coarse.as_str(),
        screen.fine.as_str()
    );
    for widget in &screen.widgets {
        let acts: Vec<&str> = widget.acts.iter().map(|act| act.name()).collect();
        let label = format::line(&widget.label, SHOWN);
        writeln!(text, "  {:<24} {:<20} {label}", acts.join(", "), widget.class).ok();
    }
    text
}
