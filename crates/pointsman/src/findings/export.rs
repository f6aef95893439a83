//! A way to make a crash happen again, as a Maestro flow and as a Python script for Appium.

use std::fmt::{Result, Write};

use pointsman_agents::explore::{
    Bounds, DeviceAction, Direction, ExploreConfig, Widget,
    map::{AppMap, MapAction},
};
use pointsman_webdriver::reproduce::Reproducer;

use super::told;

/// Returns the head of an export: what happens, and how often.
fn head(map: &AppMap, found: &Reproducer) -> [String; 2] {
    let (held, tries) = (found.held, found.tries);
    [told(map, &found.mishap), format!("Reproduced in {held} of {tries} tries.")]
}

/// Returns the actions after the start of the app.
fn actions<'a>(map: &'a AppMap, found: &'a Reproducer) -> impl Iterator<Item = &'a MapAction> {
    let moves = found.path.iter().filter_map(|at| map.moves.get(*at)).map(|it| &it.action);
    moves.filter(|it| !it.starts())
}

/// How an element is found again.
enum Locator<'a> {
    Id(&'a str),
    Text(&'a str),
    Point(i32, i32),
}

fn locator(widget: &Widget) -> Option<Locator<'_>> {
    let id = widget.key.strip_prefix(widget.class.as_str()).and_then(|it| it.strip_prefix('#'));
    if let Some(id) = id.filter(|it| !it.is_empty()) {
        return Some(Locator::Id(id));
    }
    if !widget.label.is_empty() {
        return Some(Locator::Text(&widget.label));
    }
    widget.bounds.map(Bounds::middle).map(|(x, y)| Locator::Point(x, y))
}

/// Returns a Maestro flow.
pub(crate) fn maestro(map: &AppMap, found: &Reproducer) -> String {
    let mut flow = String::new();
    // Writing to a string cannot fail.
    let _: Result = write_maestro(map, found, &mut flow);
    flow
}

fn write_maestro(map: &AppMap, found: &Reproducer, flow: &mut String) -> Result {
    for line in head(map, found) {
        writeln!(flow, "# {}", one_line(&line))?;
    }
    writeln!(flow, "appId: {}", quoted(&map.app))?;
    writeln!(flow, "---\n- launchApp:\n    stopApp: true")?;
    for action in actions(map, found) {
        let on = action.widget.as_ref();
        match action.act {
            DeviceAction::Tap => element("tapOn", on, flow)?,
            DeviceAction::LongPress => element("longPressOn", on, flow)?,
            DeviceAction::Text => {
                element("tapOn", on, flow)?;
                writeln!(flow, "- eraseText")?;
                let text = action.text.as_deref().unwrap_or_default();
                writeln!(flow, "- inputText: {}", quoted(text))?;
            }
            DeviceAction::Swipe => {
                let way = action.direction.unwrap_or(Direction::Up).name().to_uppercase();
                writeln!(flow, "- swipe:")?;
                if let Some(widget) = on {
                    writeln!(flow, "    from:")?;
                    selector(widget, "      ", flow)?;
                }
                writeln!(flow, "    direction: {way}")?;
            }
            DeviceAction::Back => writeln!(flow, "- back")?,
            _ => writeln!(flow, "- waitForAnimationToEnd")?,
        }
    }
    Ok(())
}

fn element(command: &str, widget: Option<&Widget>, flow: &mut String) -> Result {
    writeln!(flow, "- {command}:")?;
    widget.map_or(Ok(()), |widget| selector(widget, "    ", flow))
}

fn selector(widget: &Widget, indent: &str, flow: &mut String) -> Result {
    match locator(widget) {
        // Maestro compares by regular expression, and the package may come first.
        Some(Locator::Id(id)) => {
            writeln!(flow, "{indent}id: {}", quoted(&format!("(.*:id/)?{}", pattern(id))))?;
        }
        Some(Locator::Text(text)) => writeln!(flow, "{indent}text: {}", quoted(&pattern(text)))?,
        Some(Locator::Point(x, y)) => return writeln!(flow, "{indent}point: \"{x},{y}\""),
        None => return writeln!(flow, "{indent}point: \"50%,50%\""),
    }
    if widget.row > 1 {
        writeln!(flow, "{indent}index: {}", widget.row - 1)?;
    }
    Ok(())
}

/// Returns a Python script that drives Appium.
pub(crate) fn python(map: &AppMap, config: &ExploreConfig, found: &Reproducer) -> String {
    let mut script = String::new();
    // Writing to a string cannot fail.
    let _: Result = write_python(map, config, found, &mut script);
    script
}

const PRELUDE: &str = r#"import json
import sys
import time

from appium import webdriver
from appium.options.common import AppiumOptions
from appium.webdriver.common.appiumby import AppiumBy


def find(driver, xpath, nth):
    """Waits for an element, at most ten seconds."""
    for _ in range(50):
        found = driver.find_elements(AppiumBy.XPATH, xpath)
        if len(found) >= nth:
            return found[nth - 1]
        time.sleep(0.2)
    sys.exit(f"not found: {xpath} number {nth}")


def swipe(driver, area, direction):
    box = area.rect
    x, y = box["x"] + box["width"] // 2, box["y"] + box["height"] // 2
    dx, dy = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}[direction]
    w, h = box["width"] * 3 // 10, box["height"] * 3 // 10
    driver.swipe(x - dx * w, y - dy * h, x + dx * w, y + dy * h, 300)


def long_press(driver, element):
    driver.execute_script("mobile: longClickGesture", {"elementId": element.id, "duration": 1000})
"#;

fn write_python(
    map: &AppMap,
    config: &ExploreConfig,
    found: &Reproducer,
    script: &mut String,
) -> Result {
    let [what, rate] = head(map, found);
    let (what, rate) = (one_line(&what).replace("\"\"\"", "'''"), rate);
    let what = what.replace('\\', "\\\\");
    writeln!(
        script,
        "\"\"\"{what}\n\n{rate}\n\nUsage: python3 FILE CAPABILITIES.json [URL]\n\"\"\"\n"
    )?;
    script.push_str(PRELUDE);
    let url = config.device.appium.as_deref().unwrap_or("http://127.0.0.1:4723");
    writeln!(script, "\n\ncapabilities = json.load(open(sys.argv[1]))")?;
    writeln!(script, "url = sys.argv[2] if len(sys.argv) > 2 else {}", quoted(url))?;
    writeln!(script, "options = AppiumOptions().load_capabilities(capabilities)")?;
    writeln!(script, "driver = webdriver.Remote(url, options=options)")?;
    writeln!(script, "app = {}", quoted(&map.app))?;
    writeln!(script, "driver.terminate_app(app)\ndriver.activate_app(app)")?;
    for action in actions(map, found) {
        step(action, script)?;
    }
    writeln!(script, "time.sleep(2)")?;
    writeln!(script, "print(\"state of the app:\", driver.query_app_state(app))")?;
    writeln!(script, "driver.quit()")
}

fn step(action: &MapAction, script: &mut String) -> Result {
    let on = action.widget.as_ref();
    let point = on.and_then(locator).filter(|it| matches!(it, Locator::Point(..)));
    writeln!(script, "# {}", one_line(&action.name()))?;
    if let (Some(Locator::Point(x, y)), DeviceAction::Tap | DeviceAction::Text) =
        (&point, action.act)
    {
        return writeln!(script, "driver.tap([({x}, {y})])");
    }
    let found = on.map(|widget| {
        let text = |it: &str| literal(it);
        let xpath = match locator(widget) {
            Some(Locator::Id(id)) => {
                let (id, tail) = (text(id), text(&format!(":id/{id}")));
                format!(
                    "//*[@resource-id={id} or @name={id} or @id={id} or \
                     substring(@resource-id, string-length(@resource-id) - \
                     string-length({tail}) + 1)={tail}]"
                )
            }
            Some(Locator::Text(words)) => {
                let words = text(words);
                format!("//*[@text={words} or @content-desc={words} or @label={words}]")
            }
            Some(Locator::Point(..)) | None => "//*".into(),
        };
        format!("find(driver, {}, {})", quoted(&xpath), widget.row.max(1))
    });
    let found = found.unwrap_or_else(|| "find(driver, \"//*\", 1)".into());
    match action.act {
        DeviceAction::Tap => writeln!(script, "{found}.click()"),
        DeviceAction::LongPress => writeln!(script, "long_press(driver, {found})"),
        DeviceAction::Text => {
            let text = quoted(action.text.as_deref().unwrap_or_default());
            writeln!(script, "field = {found}\nfield.clear()\nfield.send_keys({text})")
        }
        DeviceAction::Swipe => {
            let way = action.direction.unwrap_or(Direction::Up).name();
            writeln!(script, "swipe(driver, {found}, \"{way}\")")
        }
        DeviceAction::Back => writeln!(script, "driver.back()"),
        _ => writeln!(script, "time.sleep(1)"),
    }
}

/// Writes a text in double quotes, as YAML and Python both read it.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            letter if letter.is_control() => quoted.push(' '),
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

/// Writes a text as `XPath` wants it, which has no way to escape a quote.
fn literal(text: &str) -> String {
    if !text.contains('\'') {
        return format!("'{text}'");
    }
    let parts: Vec<String> = text.split('\'').map(|it| format!("'{it}'")).collect();
    format!("concat({})", parts.join(", \"'\", "))
}

/// Writes a text so that a regular expression means it and nothing else.
fn pattern(text: &str) -> String {
    let mut pattern = String::new();
    for letter in text.chars() {
        if "\\.+*?()|[]{}^$".contains(letter) {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
