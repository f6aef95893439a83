//! What must hold of every run, whatever a model says.

use std::fmt;

use serde_json::Value;

use super::model_run::ModelRun;

/// How a run may end.
const NAMED: [&str; 6] = ["succeeded", "failed", "cancelled", "budget", "stuck", "denied"];
/// Words that only a bug says.
const BUGS: [&str; 3] = ["panicked at", "RUST_BACKTRACE", "stack overflow"];

/// The proved bounds of a chart.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Bounds {
    visits: u64,
    model_calls: u64,
    tool_calls: u64,
    time_ms: u64,
}

impl Bounds {
    /// Reads what `check --json` says.
    pub(super) fn read(verdict: &Value) -> Option<Self> {
        let number = |name| verdict.get("certificate")?.get(name)?.as_u64();
        Some(Self {
            visits: number("steps")?,
            model_calls: number("model_calls")?,
            tool_calls: number("tool_calls")?,
            time_ms: number("time_ms")?,
        })
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { visits, model_calls, tool_calls, time_ms } = self;
        let seconds = time_ms / 1_000;
        write!(
            f,
            "{visits} visits, {model_calls} model calls, {tool_calls} tool calls, {seconds} s"
        )
    }
}

/// Returns how a run ended in a few words, or everything that is wrong with it.
pub(super) fn judge(bounds: &Bounds, ride: &ModelRun) -> Result<String, Vec<String>> {
    let seen = RunObservation::of(&ride.told.stdout, &ride.shown);
    let mut wrong = seen.complaints(bounds);
    let code = ride.told.code();
    if code.is_none() {
        wrong.push("it did not end by itself".into());
    }
    for bug in BUGS.iter().filter(|bug| ride.told.stderr.contains(**bug)) {
        wrong.push(format!("it says `{bug}`"));
    }
    for tool in ride.ordered.iter().filter(|tool| !seen.allowed.contains(tool)) {
        wrong.push(format!("its journal starts `{tool}`, and {:?} are allowed", seen.allowed));
    }
    let (ordered, told) = (ride.ordered.len(), seen.tools.len());
    if ordered != told {
        wrong.push(format!("its journal starts {ordered} calls, and {told} were told of"));
    }
    wrong.extend(ride.touched.iter().map(|it| format!("outside its workspace, {it}")));
    if ride.replayed.code() != Some(0) {
        wrong.push(format!("it cannot be replayed: {}", ride.replayed.words()));
    }
    if wrong.is_empty() {
        return Ok(seen.words());
    }
    wrong.push(ride.told.words());
    Err(wrong)
}

/// A run as seen from outside.
#[derive(Debug, Default)]
struct RunObservation {
    ended: String,
    /// How it ended, as the journal has it.
    kept: String,
    visits: u64,
    elapsed_ms: u64,
    model_calls: u64,
    tools: Vec<String>,
    allowed: Vec<String>,
    answered: usize,
}

impl RunObservation {
    fn of(stdout: &str, shown: &Value) -> Self {
        let lines: Vec<Value> =
            stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let text = |value: &Value, name: &str| {
            value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let list = |name: &str| shown.get(name).and_then(Value::as_array).cloned();
        let end = lines.last().cloned().unwrap_or_default();
        let whats = lines.iter().filter(|line| line.get("attempt").is_some());
        let whats: Vec<String> = whats.map(|line| text(line, "what")).collect();
        let tool = |what: &String| what.strip_prefix("calls ")?.split(' ').next().map(Into::into);
        let entries = list("entries").unwrap_or_default();
        let history = list("state_history").unwrap_or_default();
        let visits = history.iter().filter(|hop| hop.get("to").is_some_and(Value::is_string));
        let is_answer = |entry: &&Value| entry.pointer("/event/answered/answer/tool").is_some();
        Self {
            ended: text(&end, "disposition"),
            kept: text(shown, "disposition"),
            visits: visits.count() as u64,
            elapsed_ms: end.get("elapsed_ms").and_then(Value::as_u64).unwrap_or(u64::MAX),
            model_calls: whats.iter().filter(|what| what.starts_with("asks ")).count() as u64,
            tools: whats.iter().filter_map(tool).collect(),
            allowed: entries.first().map(allowed).unwrap_or_default(),
            answered: entries.iter().filter(is_answer).count(),
        }
    }

    fn complaints(&self, bounds: &Bounds) -> Vec<String> {
        let mut wrong = Vec::new();
        if !NAMED.contains(&&*self.ended) {
            wrong.push(format!("it ended as `{}`, which is no way to end", self.ended));
        }
        if self.ended != self.kept {
            wrong.push(format!("it says `{}` and its journal `{}`", self.ended, self.kept));
        }
        for (what, had, most) in [
            ("visits", self.visits, bounds.visits),
            ("model calls", self.model_calls, bounds.model_calls),
            ("tool calls", self.tools.len() as u64, bounds.tool_calls),
            ("milliseconds", self.elapsed_ms, bounds.time_ms),
        ] {
            if had > most {
                wrong.push(format!("{had} {what}, and {most} is the most"));
            }
        }
        if self.visits == 0 {
            wrong.push("its history is empty".into());
        }
        if self.answered > self.tools.len() {
            let (answered, calls) = (self.answered, self.tools.len());
            wrong.push(format!("{answered} calls were answered and {calls} were told of"));
        }
        for tool in self.tools.iter().filter(|tool| !self.allowed.contains(tool)) {
            wrong.push(format!("it called `{tool}`, and only {:?} are allowed", self.allowed));
        }
        wrong
    }

    fn words(&self) -> String {
        let Self { ended, visits, model_calls, .. } = self;
        format!(
            "{ended} ({visits} visits, {model_calls} model calls, {} tool calls)",
            self.tools.len()
        )
    }
}

/// Returns the tools that the first entry allows without asking.
fn allowed(begun: &Value) -> Vec<String> {
    let rules = begun.pointer("/event/begun/permissions/rules").and_then(Value::as_array);
    let rules = rules.into_iter().flatten();
    let may = rules.filter(|rule| rule.get("level").is_some_and(|level| level == "allow"));
    may.filter_map(|rule| rule.get("tool")?.as_str().map(Into::into)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const BOUNDS: Bounds = Bounds { visits: 2, model_calls: 1, tool_calls: 1, time_ms: 1_000 };

    fn seen(tool: &str, ended: &str, elapsed_ms: u64) -> RunObservation {
        let attempt = |what: &str| json!({ "event": "attempt", "attempt": 1, "what": what });
        let lines = [
            attempt(&format!("calls {tool} {{}}")),
            attempt("asks a model"),
            json!({ "disposition": ended, "elapsed_ms": elapsed_ms }),
        ];
        let permissions = json!({ "rules": [{ "tool": "read", "level": "allow" }] });
        let shown = json!({
            "disposition": "stuck",
            "entries": [{ "event": { "begun": { "permissions": permissions } } }],
            "state_history": [{ "to": "a" }, { "to": "b" }],
        });
        RunObservation::of(&lines.map(|line| line.to_string()).join("\n"), &shown)
    }

    #[test]
    fn a_run_within_its_bounds_is_fine() {
        let seen = seen("read", "stuck", 1_000);
        assert_eq!(seen.complaints(&BOUNDS), Vec::<String>::new());
        assert_eq!(seen.words(), "stuck (2 visits, 1 model calls, 1 tool calls)");
    }

    #[test]
    fn every_fault_is_named() {
        let complaints = |seen: RunObservation, bounds| seen.complaints(&bounds).join("\n");
        let tight = Bounds { visits: 1, model_calls: 0, tool_calls: 0, time_ms: 1 };
        let said = complaints(seen("read", "stuck", 2), tight);
        for most in ["2 visits", "1 model calls", "1 tool calls", "2 milliseconds"] {
            assert!(said.contains(most), "{said}");
        }
        assert!(complaints(seen("shell", "stuck", 2), BOUNDS).contains("it called `shell`"));
        assert!(complaints(seen("read", "fine", 2), BOUNDS).contains("no way to end"));
        assert!(complaints(seen("read", "failed", 2), BOUNDS).contains("its journal `stuck`"));
    }

    #[test]
    fn a_certificate_is_read() {
        let numbers = json!({ "steps": 2, "model_calls": 1, "tool_calls": 1, "time_ms": 1_000 });
        assert_eq!(Bounds::read(&json!({ "certificate": numbers })), Some(BOUNDS));
        assert_eq!(Bounds::read(&json!({ "certificate": null })), None);
    }
}
