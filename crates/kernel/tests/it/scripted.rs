//! Scripts: one line per event, with what must come of it after ` => `.
//!
//! A line is a time (`+10` after the last one, `@10` from the start, or nothing), a
//! verb and its arguments. Every script is also replayed, and must end the same.

use std::fmt::Write as _;

use pointsman_kernel::{
    agent::{Answer, ChildEnd, Fault, FaultClass, Order, OrderKind, Reply, ToolCall, ToolResult},
    chart::{Chart, Disposition, RefusedChart, verify},
    effect::{Cause, EffectKind, Hop},
    event::{Event, Observed, Pauser, RunConfig, Scope, UnansweredEffect, Usage},
    governor::Permissions,
    id::{At, Digest, EffectId, Outcome, Seq},
    journal::{RecordResult, Recorder},
    replay::replay,
    run::Core,
    tool::{Recovery, ToolDecl},
};
use serde_json::value::RawValue;

use crate::scripted_agent::{Data, REGISTRY, Report, ScriptedAgent, ask_erase, asked};

/// Returns a chart that must be accepted, from a file without its head and its ends.
pub(crate) fn chart(text: &str) -> Chart {
    verified(text).unwrap_or_else(|refused| panic!("{:#?}\n{text}", refused.diagnostics))
}

/// Verifies a chart file; the head and the ends that all charts share are added.
pub(crate) fn verified(text: &str) -> Result<Chart, RefusedChart> {
    let ends = "[state.end]\nfinal = \"succeeded\"\n[state.bad]\nfinal = \"failed\"\n\
                [state.stopped]\nfinal = \"cancelled\"\n";
    // Scripts write the tables in any order; what a file needs first is put there.
    let start = text.split("[state.").nth(1).and_then(|rest| rest.split(']').next()).unwrap();
    let any = if text.contains("[any]") { "" } else { "[any]\ncancel = \"stopped\"\n" };
    let head = format!(
        "chart = \"toy\"\nversion = 1\njobs = \"toy\"\nstart = \"{start}\"\nauthority = \"propose\"\n"
    );
    let used: String = ends
        .split_inclusive("\"\n")
        .filter(|end| end.split(['.', ']']).nth(1).is_some_and(|name| names(text, any, name)))
        .collect();
    verify(&format!("{head}{any}{text}\n{used}"), &REGISTRY)
}

fn names(text: &str, any: &str, state: &str) -> bool {
    let quoted = format!("\"{state}\"");
    text.contains(&quoted) || any.contains(&quoted)
}

/// Plays a script on a chart and compares the result of every line.
#[track_caller]
pub(crate) fn check(text: &str, script: &str) {
    let chart = chart(text);
    let mut scripted = ScriptedRun::new(&chart);
    let lines = script.lines().map(str::trim).filter(|line| !line.is_empty());
    let (mut wanted, mut found) = (String::new(), String::new());
    for line in lines {
        let (said, _) =
            line.split_once(" => ").unwrap_or_else(|| (line.trim_end_matches(" =>"), ""));
        let _ = writeln!(wanted, "{line}");
        let _ = writeln!(found, "{}", format!("{said} => {}", scripted.play(said)).trim_end());
    }
    assert!(wanted == found, "the script came out as\n{found}");
    scripted.replays();
}

/// A run, its journal, and the clock of its script.
pub(crate) struct ScriptedRun<'c> {
    chart: &'c Chart,
    pub(crate) recorder: Recorder<'c, ScriptedAgent>,
    pub(crate) lines: Vec<String>,
    now: u64,
    asked: Vec<(EffectId, OrderKind, Option<ToolCall>)>,
}

impl<'c> ScriptedRun<'c> {
    pub(crate) fn new(chart: &'c Chart) -> Self {
        let recorder = Recorder::new(chart);
        Self { chart, recorder, lines: Vec::new(), now: 0, asked: Vec::new() }
    }

    /// Checks that the journal leads to the same run, byte for byte.
    pub(crate) fn replays(&self) {
        let lines = self.lines.iter().map(String::as_str);
        let (run, _) = replay::<ScriptedAgent>(self.chart, lines).unwrap();
        let text = |run| serde_json::to_string(run).unwrap();
        assert_eq!(text(&run), text(self.recorder.run()));
    }

    pub(crate) fn play(&mut self, line: &str) -> String {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        match words[0].split_at(1) {
            ("+", ms) => self.now += ms.parse::<u64>().unwrap(),
            ("@", ms) => self.now = ms.parse().unwrap(),
            _ => words.insert(0, ""),
        }
        if words[1] == "wake" {
            self.now = self.recorder.run().core.wake.expect("run has a wake-up time").0;
            words[1] = "woke";
        }
        let event = self.event(words[1], &words[2..]);
        self.apply(event)
    }

    pub(crate) fn apply(&mut self, event: Event<Report>) -> String {
        let before = (self.recorder.run().core.clone(), self.recorder.run().data);
        match self.recorder.record(Observed { at: At(self.now), event }) {
            Err(rejected) => format!("rejected: {rejected}"),
            Ok(RecordResult::Ignored(late)) => format!("ignored: {late:?}"),
            Ok(RecordResult::Line(line)) => {
                self.lines.push(line);
                for effect in &self.recorder.out().effects {
                    if let EffectKind::Start(order) = &effect.order {
                        let call = match order {
                            Order::Tool(call) => Some(call.clone()),
                            _ => None,
                        };
                        self.asked.push((effect.id, kind(order), call));
                    }
                }
                self.outcome(&before.0, before.1)
            }
        }
    }

    /// Describes a step: transitions, effects, notes, budgets, the wake-up.
    fn outcome(&self, before: &Core, data: Data) -> String {
        let (run, out) = (self.recorder.run(), self.recorder.out());
        let mut parts: Vec<String> = out.hops.iter().map(|hop| self.hop(hop)).collect();
        for effect in &out.effects {
            parts.push(match &effect.order {
                EffectKind::Start(Order::Own { task, .. }) => {
                    format!("start {} own {}.{}", effect.id, task.item, task.attempt)
                }
                EffectKind::Start(Order::Tool(call)) => {
                    format!("start {} {}", effect.id, call.tool)
                }
                EffectKind::Start(order) => format!("start {} {:?}", effect.id, kind(order)),
                EffectKind::AskPerson(call) => format!("ask {} {}", effect.id, call.tool),
                EffectKind::Stop(id) => format!("stop {id}"),
                _ => unreachable!(),
            });
        }
        parts.extend(out.verdicts.iter().map(|it| format!("{:?} by {:?}", it.level, it.rule)));
        parts.extend(run.data.notes_since(data.noted));
        let purses = before.balances.iter().zip(&run.core.balances).zip(self.chart.budgets());
        for ((_, after), budget) in purses.filter(|((before, after), _)| before != after) {
            let closed = if after.closed { " closed" } else { "" };
            parts.push(format!("{} {}{closed}", budget.name(), after.left));
        }
        if let Some(At(wake)) = run.core.wake.filter(|wake| before.wake != Some(*wake)) {
            parts.push(format!("wake {wake}"));
        }
        if let Some(ended) = run.core.ended {
            parts.push(format!("ended {}", disposition(ended)));
        }
        parts.join("; ")
    }

    fn hop(&self, hop: &Hop) -> String {
        let from = self.chart.state(hop.from).unwrap();
        let route = |outcome: Outcome| from.route(outcome).map_or("?", |route| route.name());
        let name = |id| self.chart.budget(id).unwrap().name();
        let by = match hop.by {
            Cause::Began => String::new(),
            Cause::Outcome(outcome) => route(outcome).to_owned(),
            Cause::Beyond { budget, outcome: Some(outcome) } => {
                format!("{}, {} used up", route(outcome), name(budget))
            }
            Cause::Beyond { budget, outcome: None } => format!("{} used up", name(budget)),
            Cause::Cancelled(scope) => scope.name().to_owned(),
            Cause::Bound => "certificate used up".to_owned(),
            Cause::Broken => "broken".to_owned(),
            _ => unreachable!(),
        };
        let mut text = match hop.by {
            Cause::Began => String::from("->"),
            _ => format!("{} -{by}->", from.name()),
        };
        if let Some(to) = hop.to {
            let _ = write!(text, " {}", self.chart.state_name(to));
        }
        if let Some(budget) = hop.spent {
            let _ = write!(text, " spending {}", name(budget));
        }
        text
    }

    fn event(&self, verb: &str, words: &[&str]) -> Event<Report> {
        let scope = |scope| Event::Cancelled { scope };
        match verb {
            "begin" => begun(self.chart.digest(), words),
            "give" => Event::Given {
                event: match words[0] {
                    "go" => 0,
                    "stop" => 1,
                    "tune" => 2,
                    _ => 9,
                },
                body: body(&words[1..]),
            },
            "answer" => self.answer(words),
            "grant" | "deny" => Event::ApprovalAnswered {
                effect: effect(words[0]),
                call: asked(&self.recorder.run().core, effect(words[0])),
                granted: verb == "grant",
                reason: "no".into(),
                remember: None,
                sent: sent(words),
            },
            "cannot" => Event::Answered {
                effect: effect(words[0]),
                answer: Answer::Tool(ToolResult {
                    ok: false,
                    output: words[1].into(),
                    mutated: words.contains(&"changed"),
                }),
                usage: Usage::default(),
                sent: sent(words),
            },
            "woke" => Event::Woke,
            "cancel" => scope(Scope::Run),
            "cancel_turn" => scope(Scope::Turn),
            "shutdown" => scope(Scope::Shutdown),
            "pause" => Event::Paused { why: "tea".into(), by: words.first().map(|it| pauser(it)) },
            "resume" => Event::Resumed,
            "lift" => Event::Lifted { by: pauser(words[0]) },
            "fork" => Event::Forked,
            "more" => Event::Granted {
                charge: serde_json::from_value(words[0].into()).unwrap(),
                amount: words[1].parse().unwrap(),
            },
            "interrupt" => {
                let unsure = |word: &&str| {
                    let effect = effect(word);
                    let asked = self.asked.iter().find(|(asked, ..)| *asked == effect);
                    UnansweredEffect { effect, call: asked.and_then(|(.., call)| call.clone()) }
                };
                Event::Interrupted {
                    under_way: words.iter().filter(|it| **it != "counted").map(unsure).collect(),
                    counted: words.contains(&"counted"),
                }
            }
            _ => panic!("no such verb: {verb}"),
        }
    }

    /// Reads `answer EFFECT WHAT [as KIND] [tokens=N] [money=N] [outside=N] [models=N]
    /// [calls=N] [hint=N] [sent=MS]`,
    /// where WHAT is an outcome, `more`, `fault` or `fault!` for one not worth repeating.
    fn answer(&self, words: &[&str]) -> Event<Report> {
        let id = effect(words[0]);
        let number = |key: &str| value(words, key).map(|text| text.parse::<u64>().unwrap());
        let kind = match words.iter().position(|word| *word == "as").map(|at| words[at + 1]) {
            Some("model") => OrderKind::Model,
            Some("tool") => OrderKind::Tool,
            Some(_) => OrderKind::Own,
            None => {
                let asked = self.asked.iter().find(|(asked, ..)| *asked == id);
                asked.map_or(OrderKind::Own, |(_, kind, _)| *kind)
            }
        };
        let what = match words[1] {
            // Outcomes go by the names that most jobs have, or by number.
            "a" => "0",
            "b" => "1",
            "c" => "2",
            "d" => "3",
            other => other,
        };
        let answer = if let Some(mark) = what.strip_prefix("fault") {
            let class =
                if number("hint").is_some() { FaultClass::RateLimited } else { FaultClass::Other };
            let (repeatable, hint_ms) = (mark.is_empty(), number("hint"));
            Answer::Fault(Fault { class, repeatable, hint_ms, message: "no".into() })
        } else {
            match kind {
                OrderKind::Model => Answer::Model(Reply { text: what.into(), calls: Vec::new() }),
                OrderKind::Tool => {
                    Answer::Tool(ToolResult { ok: true, output: what.into(), mutated: false })
                }
                OrderKind::Child => {
                    Answer::Child(ChildEnd { ended: Disposition::Succeeded, result: what.into() })
                }
                _ => Answer::Own(what.parse().map_or(Report::More, |end| {
                    Report::End(end, value(words, "choose").map(choices))
                })),
            }
        };
        let usage = Usage {
            tokens: number("tokens").unwrap_or(0),
            money: number("money").unwrap_or(0),
            outside_app: number("outside").unwrap_or(0),
            model_calls: number("models").unwrap_or(0),
            tool_calls: number("calls").unwrap_or(0),
        };
        Event::Answered { effect: id, answer, usage, sent: sent(words) }
    }
}

/// Reads `sent=MS`.
fn sent(words: &[&str]) -> Option<At> {
    value(words, "sent").map(|ms| At(ms.parse().unwrap()))
}

fn pauser(name: &str) -> Pauser {
    serde_json::from_value(name.into()).unwrap()
}

fn kind<T>(order: &Order<T>) -> OrderKind {
    match order {
        Order::Model(_) => OrderKind::Model,
        Order::Tool(_) => OrderKind::Tool,
        Order::Child(_) => OrderKind::Child,
        _ => OrderKind::Own,
    }
}

fn effect(text: &str) -> EffectId {
    let (seq, index) = text.split_once('.').unwrap();
    EffectId { seq: Seq(seq.parse().unwrap()), index: index.parse().unwrap() }
}

fn value<'w>(words: &[&'w str], key: &str) -> Option<&'w str> {
    words.iter().find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
}

/// Reads choices such as `01`: the first pure job ends in 0, the second in 1.
pub(crate) fn choices(text: &str) -> u64 {
    text.bytes().rev().fold(0, |choose, digit| choose << 4 | u64::from(digit - b'0'))
}

fn body(words: &[&str]) -> Box<RawValue> {
    let text = if words.contains(&"nonsense") {
        "7".to_owned()
    } else {
        serde_json::to_string(&Data {
            choose: value(words, "choose").map_or(0, choices),
            items: value(words, "items").map_or(0, |items| items.parse().unwrap()),
            tools: value(words, "tools").map_or(0, choices),
            ..Data::default()
        })
        .unwrap()
    };
    RawValue::from_string(text).unwrap()
}

/// Reads `begin [may=allow|ask|refuse|unattended] [items=N] [choose=…] [tools=…]
/// [after=retry|fail] [within=MS] [checks]`.
pub(crate) fn begun(digest: Digest, words: &[&str]) -> Event<Report> {
    let permissions = match value(words, "may").unwrap_or("allow") {
        "ask" => Permissions::ask_all(),
        "refuse" => Permissions::default(),
        "unattended" => Permissions { attended: false, ..Permissions::ask_all() },
        "ask_erase" => Permissions { rules: vec![ask_erase()], ..Permissions::allow_all() },
        _ => Permissions::allow_all(),
    };
    let config = body(words);
    Event::Begun(Box::new(RunConfig {
        chart: "toy".into(),
        version: 1,
        digest,
        seed: 7,
        permissions,
        tools: declared(words),
        checks: words.contains(&"checks"),
        queued: words.contains(&"queued"),
        config,
        place: None,
    }))
}

/// Returns what `read` declares of itself, where a script says so.
fn declared(words: &[&str]) -> Vec<ToolDecl> {
    let (after, within) = (value(words, "after"), value(words, "within"));
    if after.is_none() && within.is_none() {
        return Vec::new();
    }
    let recovery = match after {
        Some("retry") => Recovery::Retry,
        Some("fail") => Recovery::Fail,
        _ => Recovery::Ask,
    };
    let timeout_ms = within.map(|ms| ms.parse().unwrap());
    vec![ToolDecl { recovery, timeout_ms, ..ToolDecl::unknown("read") }]
}

fn disposition(ended: Disposition) -> String {
    format!("{ended:?}").to_lowercase()
}
