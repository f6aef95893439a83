//! A world around a run of any agent: events as JSON, journal lines as they are stored.

use pointsman_agents::ROWS;
use pointsman_kernel::{
    body::Body,
    chart::Chart,
    effect::Effect,
    erased::{AnyRun, AppliedStep, StepError},
    event::Event,
    id::{At, Digest, EffectId},
    journal::Entry,
    json::canonical_body,
    tool::{ToolDecl, ToolEffect},
};
use serde_json::{Value, json, value::RawValue};

pub(crate) struct World {
    pub(crate) chart: Chart,
    pub(crate) run: Box<dyn AnyRun>,
    pub(crate) lines: Vec<String>,
    pub(crate) now: u64,
    /// Effects that nothing has answered yet, oldest first.
    pub(crate) open: Vec<(EffectId, Value)>,
    prev: Digest,
}

pub(crate) fn raw(value: &Value) -> Box<RawValue> {
    RawValue::from_string(value.to_string()).expect("text is valid JSON")
}

/// What the tools declared when the golden journals were written. A run keeps to its
/// first entry, so what they declare today does not change an old journal.
fn declared() -> Vec<ToolDecl> {
    let query = ToolDecl { query: Some("query".into()), ..ToolDecl::read("", &["query"]) };
    let command = ToolDecl { effect: ToolEffect::Command, ..ToolDecl::write("", &["command"]) };
    vec![
        ToolDecl { name: "context.fts_search".into(), ..query.clone() },
        ToolDecl::write("edit", &["path"]),
        ToolDecl { name: "git".into(), ..command.clone() },
        ToolDecl::read("http_get", &["url"]),
        ToolDecl::read("list", &["path"]),
        ToolDecl::read("read", &["path"]),
        ToolDecl { name: "search".into(), ..query },
        ToolDecl { name: "shell".into(), ..command },
        ToolDecl::write("write", &["path"]),
    ]
}

impl World {
    /// A run that has begun, with everything permitted.
    pub(crate) fn begun(name: &str, config: &Value) -> Self {
        let mut world = Self::new(name);
        let begun = world.begin(config);
        world.event(&begun).expect("event is applied");
        world
    }

    pub(crate) fn new(name: &str) -> Self {
        let chart = pointsman_agents::chart(name)
            .expect("chart ships with the agents")
            .expect("chart is verified");
        let row =
            ROWS.iter().find(|row| row.decl.name == chart.jobs()).expect("agent is registered");
        let run = (row.start)(&chart);
        Self { chart, run, lines: Vec::new(), now: 0, open: Vec::new(), prev: Digest::default() }
    }

    pub(crate) fn begin(&self, config: &Value) -> Value {
        json!({"begun": {
            "chart": self.chart.name(),
            "version": self.chart.version(),
            "digest": self.chart.digest(),
            "seed": 42,
            "permissions": {"otherwise": "allow", "attended": true},
            "tools": declared(),
            "config": config,
        }})
    }

    /// Applies an event a tenth of a second after the last one.
    pub(crate) fn event(&mut self, event: &Value) -> Result<AppliedStep, StepError> {
        self.now += 100;
        self.event_at(self.now, event)
    }

    pub(crate) fn event_at(&mut self, at: u64, event: &Value) -> Result<AppliedStep, StepError> {
        self.now = at;
        let (seq, at) = (self.run.core().next, At(at));
        // One spelling, whatever order objects are kept in.
        let event = canonical_body(&raw(event)).expect("text is valid JSON");
        let typed: Event<Body> = serde_json::from_str(event.get())
            .map_err(|error| StepError::Unreadable(error.to_string()))?;
        let v = typed.format();
        let stepped = self.run.step(&self.chart, seq, at, typed)?;
        if self.run.core().next == seq {
            return Ok(stepped);
        }
        let hops = stepped.hops.clone();
        let (effects, prev) = (stepped.digest, self.prev);
        let line = Entry { v, seq, at, event: &event, hops, effects, prev }.line();
        self.prev = Digest::of(line.as_bytes());
        self.lines.push(line);
        for Effect { id, order } in &stepped.effects {
            let effect = serde_json::to_value(order).expect("value serialises to JSON");
            if let Some(ended) = effect.get("stop") {
                let ended: EffectId =
                    serde_json::from_value(ended.clone()).expect("text is valid JSON");
                self.open.retain(|(id, _)| *id != ended);
            } else {
                self.open.push((*id, effect));
            }
        }
        Ok(stepped)
    }

    /// Answers the oldest effect.
    pub(crate) fn answer(&mut self, answer: &Value) -> AppliedStep {
        assert!(!self.open.is_empty(), "nothing is to be answered in `{}`", self.state());
        let (effect, _) = self.open.remove(0);
        let event = json!({"answered": {"effect": effect, "answer": answer}});
        self.event(&event).unwrap_or_else(|error| panic!("{answer}: {error}"))
    }

    pub(crate) fn own(&mut self, report: Value) {
        self.answer(&json!({"own": report}));
    }

    pub(crate) fn says(&mut self, text: &str) {
        self.answer(&json!({"model": {"text": text}}));
    }

    pub(crate) fn proposes(&mut self, text: &str, calls: &[(&str, &str, Value)]) {
        let calls: Vec<Value> = calls
            .iter()
            .map(|(id, tool, arguments)| json!({"id": id, "tool": tool, "arguments": arguments}))
            .collect();
        self.answer(&json!({"model": {"text": text, "calls": calls}}));
    }

    pub(crate) fn tool(&mut self, ok: bool, output: &str, mutated: bool) {
        self.answer(&json!({"tool": {"ok": ok, "output": output, "mutated": mutated}}));
    }

    pub(crate) fn fault(&mut self, class: &str, repeatable: bool) {
        let fault = json!({"class": class, "repeatable": repeatable, "message": "it broke"});
        self.answer(&json!({"fault": fault}));
    }

    pub(crate) fn given(&mut self, event: u16, body: &Value) {
        let event = json!({"given": {"event": event, "body": body}});
        self.event(&event).unwrap_or_else(|error| panic!("{body}: {error}"));
    }

    /// Lets time pass until the run wants to be woken.
    pub(crate) fn wake(&mut self) {
        let wake = self.run.core().wake.expect("run has a wake-up time");
        self.event_at(wake.0, &json!("woke")).expect("wake-up is due");
    }

    pub(crate) fn state(&self) -> &str {
        self.chart.state_name(self.run.core().state)
    }

    pub(crate) fn snapshot(&self) -> String {
        self.run.snapshot().expect("run serialises").get().to_owned()
    }
}
