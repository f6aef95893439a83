//! An exploration as `JUnit` XML: a test case for every screen, and for everything that went
//! wrong.

use std::fmt::{Result, Write};

use pointsman_agents::explore::map::{AppMap, Mishap, MishapKind};
use pointsman_webdriver::exploration::Exploration;

use super::{path, told};
use crate::{draw::text::escape, format::counted};

/// Returns an exploration for a CI server. Crashes and hangs are failures; a dead end may be
/// intended, and is only reported.
pub(crate) fn junit(exploration: &Exploration) -> String {
    let mut xml = String::new();
    // Writing to a string cannot fail.
    let _: Result = write(exploration, &mut xml);
    xml
}

fn write(exploration: &Exploration, xml: &mut String) -> Result {
    let Exploration { run, map, stopped, elapsed_ms, .. } = exploration;
    let (wrong, dead): (Vec<&Mishap>, Vec<&Mishap>) =
        map.mishaps.iter().partition(|it| it.kind != MishapKind::DeadEnd);
    let errors = usize::from(super::failed(exploration));
    let (tests, failures) = (map.screens.len() + map.mishaps.len() + errors, wrong.len());
    let time = format!("{}.{:03}", elapsed_ms / 1000, elapsed_ms % 1000);
    let app = escape(&map.app);
    writeln!(xml, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(
        xml,
        "<testsuites name=\"pointsman\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" \
         time=\"{time}\">"
    )?;
    writeln!(
        xml,
        "  <testsuite name=\"{app}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" \
         skipped=\"0\" time=\"{time}\">"
    )?;
    let coverage = map.coverage();
    writeln!(xml, "    <properties>")?;
    for (name, value) in [
        ("run", run.id.to_string()),
        ("recording", map.recording.clone().unwrap_or_default()),
        ("stopped", stopped.clone().unwrap_or_default()),
        ("screens", coverage.screens.to_string()),
        ("activities", coverage.activities.to_string()),
        ("edges", coverage.edges.to_string()),
        ("actions", coverage.actions.to_string()),
        ("actions_seen", coverage.actions_seen.to_string()),
        ("actions_tried", coverage.actions_tried.to_string()),
    ] {
        if !value.is_empty() {
            writeln!(xml, "      <property name=\"{name}\" value=\"{}\"/>", escape(&value))?;
        }
    }
    writeln!(xml, "    </properties>")?;
    if errors > 0 {
        let why = escape(stopped.as_deref().unwrap_or("no reason was recorded"));
        writeln!(xml, "    <testcase classname=\"{app}\" name=\"exploration\" time=\"0\">")?;
        writeln!(xml, "      <error type=\"failed\" message=\"{why}\"/>")?;
        writeln!(xml, "    </testcase>")?;
    }
    for screen in &map.screens {
        let class = if screen.activity.is_empty() { &map.app } else { &screen.activity };
        let name = format!("screen {} ({})", screen.name(), screen.id.as_str());
        let (class, name) = (escape(class), escape(&name));
        writeln!(xml, "    <testcase classname=\"{class}\" name=\"{name}\" time=\"0\"/>")?;
    }
    for mishap in wrong {
        failed(map, mishap, xml)?;
    }
    for mishap in dead {
        let (class, name) = (escape(&class(map, mishap)), escape(&told(map, mishap)));
        writeln!(xml, "    <testcase classname=\"{class}\" name=\"{name}\" time=\"0\">")?;
        let steps = escape(&path(map, &map.shortest(mishap)).join("; "));
        writeln!(xml, "      <system-out>{steps}</system-out>")?;
        writeln!(xml, "    </testcase>")?;
    }
    writeln!(xml, "  </testsuite>")?;
    writeln!(xml, "</testsuites>")
}

fn class(map: &AppMap, mishap: &Mishap) -> String {
    let activity = mishap.screen.as_ref().and_then(|id| map.screen(id)).map(|it| &it.activity);
    activity.filter(|it| !it.is_empty()).unwrap_or(&map.app).clone()
}

fn failed(map: &AppMap, mishap: &Mishap, xml: &mut String) -> Result {
    let (class, name) = (escape(&class(map, mishap)), escape(&told(map, mishap)));
    let steps = path(map, &map.shortest(mishap));
    let message = format!("{}: {}", told(map, mishap), steps.join("; "));
    let kind = mishap.kind.name().replace(' ', "_");
    writeln!(xml, "    <testcase classname=\"{class}\" name=\"{name}\" time=\"0\">")?;
    writeln!(xml, "      <failure type=\"{kind}\" message=\"{}\">", escape(&message))?;
    for (number, step) in (1..).zip(&steps) {
        writeln!(xml, "{number}. {}", escape(step))?;
    }
    let [times, other] =
        [mishap.times, mishap.otherwise].map(|count| counted(count.into(), "time"));
    writeln!(xml, "Seen {times}; the same action had a different result {other}.")?;
    writeln!(xml, "      </failure>")?;
    writeln!(xml, "    </testcase>")
}
