//! A call as a person is asked about it: what it would do, and not how it is written.

use pointsman_agents::{PLAN_TOOL, form::SUBMIT_TOOL};
use pointsman_kernel::agent::ToolCall;
use serde_json::{Map, Value};

use super::plan::ProposePlan;

/// Lines of a piece that are shown, and characters of a line.
const LINES: usize = 20;
const WIDTH: usize = 160;

/// Returns what a call would do, for a person to decide on; nothing for a tool that is
/// not known here, or for arguments that do not fit. It has a limited length. Control
/// characters are left as they are: whoever shows it must make them harmless.
pub fn describe(call: &ToolCall) -> Option<String> {
    let arguments: Map<String, Value> = serde_json::from_str(call.arguments.get()).ok()?;
    let text = |name: &str| arguments.get(name).and_then(Value::as_str);
    match call.tool.as_str() {
        PLAN_TOOL => {
            let plan: ProposePlan = serde_json::from_str(call.arguments.get()).ok()?;
            Some(block("", &plan.list(), LINES * 4))
        }
        "edit" => {
            let (path, old, new) = (text("path")?, text("old")?, text("new")?);
            let every = arguments.get("all") == Some(&Value::Bool(true));
            let places = if every { " (every place)" } else { "" };
            Some(format!("edit {}{places}\n{}", line(path), difference(old, new)))
        }
        "write" => {
            let (path, content) = (text("path")?, text("content")?);
            let (lines, bytes) = (content.lines().count(), content.len());
            Some(format!("write {}: {lines} lines, {bytes} bytes", line(path)))
        }
        "shell" => {
            let command = block("$ ", text("command")?, LINES);
            let cwd = text("cwd").filter(|cwd| !cwd.is_empty());
            Some(cwd.map_or_else(|| command.clone(), |cwd| format!("{command}\nin {}", line(cwd))))
        }
        "git" => {
            let words = arguments.get("args")?.as_array()?.iter().map(Value::as_str);
            let words: Vec<&str> = words.collect::<Option<_>>()?;
            Some(block("$ git ", &words.join(" "), LINES))
        }
        SUBMIT_TOOL => {
            let class = text("class")?;
            let does = match class {
                "pay" => "pay or order",
                "sign" => "sign or agree",
                _ => "send the form",
            };
            Some(format!("{SUBMIT_TOOL}: {does}\npress `{}`", line(text("label")?)))
        }
        "http_get" => Some(format!("fetch {}", line(text("url")?))),
        _ => None,
    }
}

/// Returns a line, cut to a width.
fn line(text: &str) -> String {
    let cut = text.chars().nth(WIDTH).is_some();
    text.chars().take(WIDTH).chain(cut.then_some('…')).collect()
}

/// Returns lines, each with a sign before it, cut to a number.
fn block(sign: &str, text: &str, limit: usize) -> String {
    let count = text.lines().count();
    let mut lines: Vec<String> =
        text.lines().take(limit).map(|it| format!("{sign}{}", line(it))).collect();
    if count > limit {
        lines.push(format!("… and {} lines more", count.saturating_sub(limit)));
    }
    lines.join("\n")
}

/// Returns what is taken out and what is put there. Lines that both begin and end with
/// are left out, but for one.
fn difference(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same = |(one, two): &(&&str, &&str)| one == two;
    let before = old.iter().zip(&new).take_while(same).count();
    let shorter = old.len().min(new.len()).saturating_sub(before);
    let behind = old.iter().rev().zip(new.iter().rev()).take_while(same).count().min(shorter);
    let middle = |lines: &[&str]| {
        let end = lines.len().saturating_sub(behind);
        lines.get(before..end).unwrap_or_default().join("\n")
    };
    let around = |at: Option<usize>| at.and_then(|at| old.get(at)).map(|it| block("  ", it, 1));
    let first = around(before.checked_sub(1));
    let last = around(old.len().checked_sub(behind).filter(|_| behind > 0));
    let parts = [
        first.unwrap_or_default(),
        block("- ", &middle(&old), LINES),
        block("+ ", &middle(&new), LINES),
        last.unwrap_or_default(),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::{json, value::to_raw_value};

    use super::*;

    #[track_caller]
    fn check(tool: &str, arguments: Value, wanted: Option<&str>) {
        let arguments = to_raw_value(&arguments).expect("it is JSON");
        let call = ToolCall { id: "1".into(), tool: tool.into(), arguments };
        assert_eq!(describe(&call).as_deref(), wanted, "{tool}");
    }

    #[test]
    fn calls_are_told_by_what_they_would_do() {
        let phases = json!([
            { "description": "Find\nthe fault", "expected_minutes": 5 },
            { "description": "Mend it" },
        ]);
        let plan = "1. Find the fault (about 5 min)\n2. Mend it";
        check("propose_plan", json!({ "phases": phases }), Some(plan));
        let edit = json!({ "path": "a.rs", "old": "a\nb\nc\nd", "new": "a\nb\nx\ny\nd" });
        check("edit", edit, Some("edit a.rs\n  b\n- c\n+ x\n+ y\n  d"));
        let edit = json!({ "path": "a.rs", "old": "a\n", "new": "", "all": true });
        check("edit", edit, Some("edit a.rs (every place)\n- a"));
        let edit = json!({ "path": "a.rs", "old": "a\na", "new": "a\na\na" });
        check("edit", edit, Some("edit a.rs\n  a\n+ a"));
        let write = json!({ "path": "b.txt", "content": "é\n" });
        check("write", write, Some("write b.txt: 1 lines, 3 bytes"));
        let shell = json!({ "command": "cd a &&\nmake", "cwd": "sub" });
        check("shell", shell, Some("$ cd a &&\n$ make\nin sub"));
        check("git", json!({ "args": ["commit", "-m", "one"] }), Some("$ git commit -m one"));
        check("http_get", json!({ "url": "http://x" }), Some("fetch http://x"));
    }

    #[test]
    fn what_is_not_known_or_does_not_fit_is_not_told() {
        check("mcp.a.b", json!({}), None);
        check("edit", json!({ "path": 1 }), None);
        check("git", json!({ "args": [1] }), None);
        check("propose_plan", json!({ "phases": "none" }), None);
        check("shell", json!("rm"), None);
    }

    #[test]
    fn nothing_is_told_without_end() {
        let long = format!("{}\n", "x".repeat(1000)).repeat(1000);
        let calls = [
            ("edit", json!({ "path": "a", "old": long, "new": long.replace('x', "y") })),
            ("write", json!({ "path": long, "content": "" })),
            ("shell", json!({ "command": long })),
        ];
        for (tool, arguments) in calls {
            let arguments = to_raw_value(&arguments).expect("it is JSON");
            let call = ToolCall { id: "1".into(), tool: tool.into(), arguments };
            let told = describe(&call).expect("it is known");
            assert!(told.len() < 8000 && told.contains('…'), "{tool}: {}", told.len());
        }
    }
}
