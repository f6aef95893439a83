//! A run of the clerk, its journal, and the world that answers it.
//!
//! Entries are numbered by what happens: the run begins with entry 1, and where no
//! call is refused, round `n` is entry `2n`, the proposal, and `2n + 1`, its result.

use pointsman_kernel::{
    agent::{Answer, Fault, FaultClass, Reply, ToolCall, ToolResult},
    chart::{Chart, verify},
    event::{Event, Observed, RunConfig, Usage},
    governor::{Grant, Level, Permissions, Rule, Verdict},
    id::{At, Digest, EffectId, Seq},
    journal::{RecordResult, Recorder},
    replay::replay,
    run::{ItemStatus, Run},
};
use serde_json::value::RawValue;

use super::tool_caller::{Data, REGISTRY, ToolCaller, tools};

/// Returns a chart with this `[stuck]` table: think, act, think again.
pub(super) fn chart(stuck: &str) -> Chart {
    of(stuck, "run = \"act\"", "on.failed = \"$\"\non.denied = \"$\"")
}

/// Returns a chart in which the calls of one turn are made side by side.
pub(super) fn parallel(stuck: &str) -> Chart {
    let over = "fan_out = { over = \"calls\", run = \"act\", join = \"gather\", \
                max_parallel = 8, max_items = 8 }";
    of(stuck, over, "")
}

/// Returns a chart in which a call is tried nine times.
pub(super) fn patient(stuck: &str) -> Chart {
    let act = "run = \"act\"\nattempts = 9\nbackoff = { base = \"4ms\", cap = \"4ms\" }";
    of(stuck, act, "on.failed = \"$\"\non.denied = \"$\"")
}

fn of(stuck: &str, act: &str, further: &str) -> Chart {
    let text = format!(
        r#"
        chart = "desk"
        version = 1
        jobs = "clerk"
        start = "thinking"
        authority = "propose"
        [any]
        cancel = "stopped"
        [budget]
        rounds = {{ max = 100000, else = "stopped" }}
        [stuck]
        {stuck}
        [state.thinking]
        run = "think"
        timeout = "1s"
        on.call = "acting"
        on.talk = "$"
        on.ask = "idle"
        on.done = "end"
        on.failed = "$"
        on.stuck = "$"
        [state.acting]
        {act}
        timeout = "1s"
        ask_timeout = "1m"
        tools = "all"
        on.done = "$"
        on.stuck = "$"
        {further}
        [state.idle]
        await = ["go"]
        on.go = "$"
        [state.end]
        final = "succeeded"
        [state.stopped]
        final = "cancelled"
        "#
    );
    let text = text.replace("\"$\"", r#"{ to = "thinking", spend = "rounds" }"#);
    verify(&text, &REGISTRY).unwrap_or_else(|refused| panic!("{:#?}", refused.diagnostics))
}

/// A successful result.
pub(super) fn ok(output: &str) -> ToolResult {
    ToolResult { ok: true, output: output.into(), mutated: false }
}

/// A successful result of a change.
pub(super) fn changed(output: &str) -> ToolResult {
    ToolResult { mutated: true, ..ok(output) }
}

/// A result that says no.
pub(super) fn no(error: &str) -> ToolResult {
    ToolResult { ok: false, ..ok(error) }
}

/// A call as a model proposes it.
pub(super) fn call(id: &str, tool: &str, arguments: &str) -> ToolCall {
    let arguments = RawValue::from_string(arguments.to_owned()).unwrap();
    ToolCall { id: id.into(), tool: tool.into(), arguments }
}

/// Returns the levels and rules of verdicts, and how many entries they name.
pub(super) fn said(verdicts: &[Verdict]) -> Vec<(Level, Rule)> {
    verdicts.iter().map(|verdict| (verdict.level, verdict.rule)).collect()
}

/// Checks that verdicts are one of this level and rule, from these entries.
#[track_caller]
pub(super) fn assert_ruled(verdicts: &[Verdict], level: Level, rule: Rule, evidence: &[u64]) {
    assert_eq!(said(verdicts), [(level, rule)], "{verdicts:?}");
    let [verdict] = verdicts else { unreachable!() };
    let found: Vec<u64> = verdict.evidence.iter().map(|seq| seq.0).collect();
    assert_eq!(found, evidence, "{verdict:?}");
    assert!(!verdict.reason.is_empty() && !verdict.advice.is_empty(), "{verdict:?}");
}

/// A run and the world around it.
pub(super) struct GovernedRun<'c> {
    pub(super) chart: &'c Chart,
    pub(super) recorder: Recorder<'c, ToolCaller>,
    pub(super) lines: Vec<String>,
    pub(super) now: u64,
    /// Everything that was ruled, entry by entry.
    pub(super) ruled: Vec<(Seq, Verdict)>,
    calls: usize,
}

impl<'c> GovernedRun<'c> {
    /// Begins a run in which everything may run.
    pub(super) fn new(chart: &'c Chart) -> Self {
        Self::with(chart, Permissions::allow_all())
    }

    pub(super) fn with(chart: &'c Chart, permissions: Permissions) -> Self {
        let recorder = Recorder::new(chart);
        let (lines, ruled) = (Vec::new(), Vec::new());
        let mut governed = Self { chart, recorder, lines, now: 0, ruled, calls: 0 };
        governed.record(Event::Begun(Box::new(RunConfig {
            chart: "desk".into(),
            version: 1,
            digest: chart.digest(),
            seed: 7,
            permissions,
            tools: tools(),
            checks: false,
            queued: false,
            config: RawValue::from_string("{}".into()).unwrap(),
            place: None,
        })));
        governed
    }

    /// Applies an event, and returns what the governor said.
    pub(super) fn record(&mut self, event: Event<()>) -> Vec<Verdict> {
        let seq = self.recorder.run().core.next;
        let recorded = self.recorder.record(Observed { at: At(self.now), event });
        let Ok(RecordResult::Line(line)) = recorded else { panic!("not applied: {recorded:?}") };
        self.lines.push(line);
        let verdicts = self.recorder.out().verdicts.clone();
        self.ruled.extend(verdicts.iter().map(|verdict| (seq, verdict.clone())));
        for verdict in &verdicts {
            assert!(verdict.evidence.iter().all(|at| at.0 > 0 && *at <= seq), "{verdict:?}");
            assert!(verdict.evidence.is_sorted_by(|one, other| one < other), "{verdict:?}");
        }
        verdicts
    }

    /// Returns the first effect in progress.
    pub(super) fn working(&self) -> Option<EffectId> {
        self.recorder.run().core.items.iter().find_map(|item| match item.doing {
            ItemStatus::Working { effect, .. } => Some(effect),
            _ => None,
        })
    }

    /// Returns the first question that waits for a person.
    pub(super) fn asking(&self) -> Option<(EffectId, Digest)> {
        self.recorder.run().core.items.iter().find_map(|item| match item.doing {
            ItemStatus::Asking { effect, call, .. } => Some((effect, call)),
            _ => None,
        })
    }

    pub(super) fn state(&self) -> &str {
        self.chart.state_name(self.recorder.run().core.state)
    }

    pub(super) fn data(&self) -> &Data {
        &self.recorder.run().data
    }

    /// The model's turn; ids are new each time.
    pub(super) fn turn(&mut self, text: &str, calls: &[(&str, &str)]) -> Vec<Verdict> {
        let calls = calls.iter().map(|(tool, arguments)| {
            self.calls += 1;
            call(&format!("id-{}", self.calls), tool, arguments)
        });
        let reply = Reply { text: text.into(), calls: calls.collect() };
        self.answer(Answer::Model(reply))
    }

    /// Answers the first effect in progress.
    pub(super) fn answer(&mut self, answer: Answer<()>) -> Vec<Verdict> {
        let effect = self.working().expect("an effect is in progress");
        self.record(Event::Answered { effect, answer, usage: Usage::default(), sent: None })
    }

    /// A fault of the infrastructure.
    pub(super) fn fault(&mut self, class: FaultClass) -> Vec<Verdict> {
        let message = "not today".into();
        self.answer(Answer::Fault(Fault { class, repeatable: true, hint_ms: None, message }))
    }

    /// One call and its result, if it starts: what the governor said to both.
    pub(super) fn round(
        &mut self,
        tool: &str,
        arguments: &str,
        result: ToolResult,
    ) -> Vec<Verdict> {
        assert_eq!(self.state(), "thinking");
        let mut verdicts = self.turn("", &[(tool, arguments)]);
        if self.state() == "acting" {
            verdicts.extend(self.answer(Answer::Tool(result)));
        }
        verdicts
    }

    /// A round in which nothing must be said.
    #[track_caller]
    pub(super) fn quiet(&mut self, tool: &str, arguments: &str, result: ToolResult) {
        let entry = self.recorder.run().core.next.0;
        let verdicts = self.round(tool, arguments, result);
        assert!(verdicts.is_empty(), "entry {entry}: {verdicts:?}");
    }

    /// A person is asked, and says go; a turn that is halted does not reach them.
    pub(super) fn person(&mut self) {
        self.turn("ask", &[]);
        if self.state() != "idle" {
            return;
        }
        let body = RawValue::from_string("{}".into()).unwrap();
        self.record(Event::Given { event: 0, body });
    }

    /// A person decides over the first call that waits.
    pub(super) fn decide(&mut self, granted: bool, remember: Option<Grant>) -> Vec<Verdict> {
        let (effect, call) = self.asking().expect("a question is open");
        let reason = "so be it".into();
        self.record(Event::ApprovalAnswered { effect, call, granted, reason, remember, sent: None })
    }

    /// Returns the run as a snapshot.
    pub(super) fn snapshot(&self) -> String {
        serde_json::to_string(self.recorder.run()).unwrap()
    }

    /// Drops everything of the run but its snapshot, and continues from there.
    pub(super) fn restart(&mut self) {
        let run: Run<ToolCaller> = serde_json::from_str(&self.snapshot()).unwrap();
        let prev = Digest::of(self.lines.last().unwrap().as_bytes());
        self.recorder = Recorder::resume(self.chart, run, prev);
    }

    /// Checks that the journal leads to the same run: its entries hold the digests of
    /// all verdicts, and a replay compares them.
    pub(super) fn replays(&self) {
        let (run, _) =
            replay::<ToolCaller>(self.chart, self.lines.iter().map(String::as_str)).unwrap();
        assert_eq!(serde_json::to_string(&run).unwrap(), self.snapshot());
    }
}
