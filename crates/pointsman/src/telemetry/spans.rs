//! Makes spans of the notices of runs.
//!
//! A run is a trace: its id is derived from the run's, and a span's from its place in the run, so that a process
//! that resumes a run continues its trace. A run's span is the parent of its stays in states, and a stay the
//! parent of the calls and questions that were started in it. A child run is in the trace of its root, and the
//! span of the effect that started it is its parent's: both follow from its name. A span is made when it ends, in
//! the process that saw it begin.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use opentelemetry::{
    InstrumentationScope, KeyValue, Value,
    trace::{Event, SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState},
};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use pointsman_kernel::{
    agent::{Answer, OrderKind, ToolCall},
    body::Body,
    chart::Disposition,
    id::{At, Digest, EffectId, Seq},
    view::RunView,
};
use pointsman_runtime::{
    clock::now_ms,
    effect::TokenCount,
    observe::{LiveNotice, Notice, Observer, QuestionKind},
    store::RunId,
    timeline::{TimelineItem, TimelineKind},
};
use serde::Serialize;

use super::{content, names, settings::TelemetrySettings};

/// Events of one stay in a state: more are only counted.
const MAX_EVENTS: usize = 128;

/// Makes spans of what runs do, and hands them on.
pub(super) struct SpanObserver<S> {
    settings: Arc<TelemetrySettings>,
    send: S,
    runs: Mutex<HashMap<RunId, Trace>>,
}

impl<S: Fn(SpanData) + Send + Sync> SpanObserver<S> {
    pub(super) fn new(settings: Arc<TelemetrySettings>, send: S) -> Self {
        Self { settings, send, runs: Mutex::default() }
    }
}

impl<S: Fn(SpanData) + Send + Sync> Observer for SpanObserver<S> {
    fn notice(&self, run: &RunId, notice: &Notice) {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let trace = runs.entry(run.clone()).or_insert_with(|| Trace::new(run, &self.settings));
        let mut spans = Vec::new();
        if trace.sampled {
            trace.take(notice, &mut spans);
        }
        if notice.is_end() {
            runs.remove(run);
        }
        drop(runs);
        for span in spans {
            (self.send)(span);
        }
    }
}

/// An effect or a question in progress.
struct OpenCall {
    name: String,
    kind: SpanKind,
    /// The entry that started it, which tells a call from its repetition.
    began: Seq,
    at: At,
    /// The stay in a state that it belongs to.
    visit: u64,
    attributes: Vec<KeyValue>,
}

/// The spans of a run.
struct Trace {
    run: RunId,
    id: TraceId,
    sampled: bool,
    content: bool,
    /// When the run began, in milliseconds since 1970, by the clock of this process.
    began_ms: Option<u64>,
    chart: Box<str>,
    version: Option<u32>,
    /// The items of the current step, until the run after it is known.
    step: Vec<TimelineItem>,
    /// States entered so far.
    visit: u64,
    open: BTreeMap<EffectId, OpenCall>,
    tokens: Option<(EffectId, TokenCount)>,
    /// Events of the current stay.
    events: Vec<Event>,
    dropped: u32,
}

impl Trace {
    fn new(run: &RunId, settings: &TelemetrySettings) -> Self {
        let id = trace_id(run);
        Self {
            run: run.clone(),
            id,
            sampled: settings.samples(id),
            content: settings.content,
            began_ms: None,
            chart: "".into(),
            version: None,
            step: Vec::new(),
            visit: 0,
            open: BTreeMap::new(),
            tokens: None,
            events: Vec::new(),
            dropped: 0,
        }
    }

    fn take(&mut self, notice: &Notice, spans: &mut Vec<SpanData>) {
        match notice {
            Notice::Item(item) => match &item.kind {
                // These follow when the entry is on disk.
                TimelineKind::Started { only_checked: false, .. }
                | TimelineKind::Asked(_)
                | TimelineKind::Stopped { .. }
                | TimelineKind::Ended { .. } => self.follow(item, spans),
                _ => self.step.push(item.clone()),
            },
            Notice::Live(LiveNotice::Persisted { view, .. }) => self.persisted(view, spans),
            Notice::Live(LiveNotice::ModelCalled { effect, model, prompt }) => {
                let Some(call) = self.open.get_mut(effect) else { return };
                let (provider, model) = model_name(model);
                call.name = format!("{} {model}", names::CHAT);
                call.attributes.push(KeyValue::new(names::PROVIDER, provider));
                call.attributes.push(KeyValue::new(names::REQUEST_MODEL, model));
                if let Some(prompt) = prompt.as_ref().filter(|_| self.content) {
                    call.attributes.extend(content::prompt(prompt));
                }
            }
            Notice::Live(LiveNotice::Counted { effect, tokens }) => {
                self.tokens = Some((*effect, *tokens));
            }
            Notice::Live(_) => {}
        }
    }

    /// Takes the items of a step, now that the run after it is known.
    fn persisted(&mut self, view: &RunView, spans: &mut Vec<SpanData>) {
        self.chart = view.chart.clone();
        let step = std::mem::take(&mut self.step);
        let enters = |item: &&TimelineItem| {
            matches!(item.kind, TimelineKind::Transition { to: Some(_), .. })
        };
        let entered = u64::try_from(step.iter().filter(enters).count()).unwrap_or(0);
        self.visit = view.visits.saturating_sub(entered);
        for item in &step {
            self.item(item, spans);
        }
    }

    fn item(&mut self, item: &TimelineItem, spans: &mut Vec<SpanData>) {
        match &item.kind {
            TimelineKind::Begun { version, .. } => self.version = Some(*version),
            TimelineKind::Transition { .. } => self.left(item, spans),
            TimelineKind::Answered { effect, .. } => {
                if let Some(call) = self.open.remove(effect) {
                    spans.push(self.answered(*effect, call, item));
                }
            }
            TimelineKind::ApprovalAnswered { effect, granted, reason, .. } => {
                let Some(mut call) = self.open.remove(effect) else { return };
                call.attributes.push(KeyValue::new(names::GRANTED, *granted));
                if self.content {
                    call.attributes.push(KeyValue::new(names::TEXT, content::cut(reason)));
                }
                spans.push(self.call_span(*effect, call, item, Status::Unset));
            }
            TimelineKind::Verdict(verdict) => {
                let rule = KeyValue::new(names::VERDICT_RULE, word(&verdict.rule));
                let level = KeyValue::new(names::VERDICT_LEVEL, word(&verdict.level));
                self.event(names::VERDICT, item, vec![rule, level]);
            }
            TimelineKind::Retrying { attempt, wait_ms } => {
                let attempt = KeyValue::new(names::ATTEMPT, i64::from(*attempt));
                let wait = KeyValue::new(names::RETRY_WAIT, number(*wait_ms));
                self.event(names::RETRY, item, vec![attempt, wait]);
            }
            TimelineKind::Interrupted => self.event(names::INTERRUPTED, item, Vec::new()),
            TimelineKind::Paused { .. } => self.event(names::PAUSED, item, Vec::new()),
            TimelineKind::Resumed => self.event(names::RESUMED, item, Vec::new()),
            _ => {}
        }
    }

    fn follow(&mut self, item: &TimelineItem, spans: &mut Vec<SpanData>) {
        match &item.kind {
            TimelineKind::Started { effect, attempt, by, what, call, again, .. } => {
                let mut attributes = vec![KeyValue::new(names::ATTEMPT, i64::from(*attempt))];
                if *again {
                    attributes.push(KeyValue::new(names::AGAIN, true));
                }
                let (name, kind) = match (by, call) {
                    (OrderKind::Model, _) => {
                        attributes.push(KeyValue::new(names::OPERATION, names::CHAT));
                        (names::CHAT.to_owned(), SpanKind::Client)
                    }
                    (_, Some(call)) => {
                        attributes.push(KeyValue::new(names::OPERATION, names::EXECUTE_TOOL));
                        attributes.extend(called(call, self.content));
                        (format!("{} {}", names::EXECUTE_TOOL, call.tool), SpanKind::Internal)
                    }
                    (by, None) => {
                        if self.content {
                            attributes.push(KeyValue::new(names::TEXT, what.to_string()));
                        }
                        let child = *by == OrderKind::Child;
                        let name = if child { names::CHILD } else { names::TASK };
                        (name.to_owned(), SpanKind::Internal)
                    }
                };
                self.begin(*effect, item, name, kind, attributes);
            }
            TimelineKind::Asked(question) => {
                let mut attributes = Vec::new();
                let name = match &question.asks {
                    QuestionKind::Call { call, .. } => {
                        attributes.extend(called(call, self.content));
                        format!("{} {}", names::APPROVE, call.tool)
                    }
                    QuestionKind::Plain(text) => {
                        if self.content {
                            attributes.push(KeyValue::new(names::TEXT, content::cut(text)));
                        }
                        names::APPROVE.to_owned()
                    }
                };
                self.begin(question.effect, item, name, SpanKind::Internal, attributes);
            }
            TimelineKind::Stopped { effect } => {
                let Some(mut call) = self.open.remove(effect) else { return };
                call.attributes.push(KeyValue::new(names::STOPPED, true));
                spans.push(self.call_span(*effect, call, item, Status::Unset));
            }
            TimelineKind::Ended { disposition } => spans.push(self.ended(item, *disposition)),
            _ => {}
        }
    }

    fn begin(
        &mut self,
        effect: EffectId,
        item: &TimelineItem,
        name: String,
        kind: SpanKind,
        attributes: Vec<KeyValue>,
    ) {
        let (began, at, visit) = (item.seq, item.at, self.visit);
        // Its moment is taken while it is near.
        self.time(at);
        self.open.insert(effect, OpenCall { name, kind, began, at, visit, attributes });
    }

    /// Returns the span of a state that was left, and counts the one that was entered.
    fn left(&mut self, item: &TimelineItem, spans: &mut Vec<SpanData>) {
        let TimelineKind::Transition { from, to, reason, spent, ms } = &item.kind else { return };
        if let Some(from) = from {
            let mut attributes = vec![
                KeyValue::new(names::STATE_NAME, from.to_string()),
                KeyValue::new(names::STATE_VISIT, number(self.visit)),
                KeyValue::new(names::TRANSITION_REASON, reason.to_string()),
            ];
            let to = to.as_ref().map(|to| KeyValue::new(names::TRANSITION_TO, to.to_string()));
            let spent = spent.as_ref();
            let spent = spent.map(|it| KeyValue::new(names::TRANSITION_BUDGET, it.to_string()));
            attributes.extend(to.into_iter().chain(spent));
            let mut span = self.span(
                format!("{} {from}", names::STATE),
                visit_id(&self.run, self.visit),
                run_id(&self.run),
                At(item.at.0.saturating_sub(*ms)),
                item,
                attributes,
            );
            span.events.events = std::mem::take(&mut self.events);
            span.events.dropped_count = std::mem::take(&mut self.dropped);
            spans.push(span);
        }
        if to.is_some() {
            self.visit += 1;
        }
    }

    fn answered(&mut self, effect: EffectId, mut call: OpenCall, item: &TimelineItem) -> SpanData {
        let TimelineKind::Answered { ok, answer, usage, .. } = &item.kind else {
            return self.call_span(effect, call, item, Status::Unset);
        };
        let counted = self.tokens.take().filter(|(counted, _)| *counted == effect);
        if let Some((_, TokenCount { input, output })) = counted {
            call.attributes.push(KeyValue::new(names::INPUT_TOKENS, number(input)));
            call.attributes.push(KeyValue::new(names::OUTPUT_TOKENS, number(output)));
        }
        if usage.money > 0 {
            call.attributes.push(KeyValue::new(names::MONEY, number(usage.money)));
        }
        let status = match error_type(*ok, answer) {
            Some(kind) => {
                call.attributes.push(KeyValue::new(names::ERROR_TYPE, kind));
                // A message can quote what was said.
                let why = item.kind.output().filter(|_| self.content).map(content::cut);
                Status::error(why.unwrap_or_default())
            }
            None => Status::Unset,
        };
        if self.content {
            call.attributes.extend(match &**answer {
                Answer::Model(reply) => Some(content::reply(reply)),
                Answer::Tool(result) => Some(content::result(&result.output)),
                _ => None,
            });
        }
        self.call_span(effect, call, item, status)
    }

    fn call_span(
        &mut self,
        effect: EffectId,
        call: OpenCall,
        item: &TimelineItem,
        status: Status,
    ) -> SpanData {
        let OpenCall { name, kind, began, at, visit, mut attributes } = call;
        attributes.push(KeyValue::new(names::EFFECT, effect.to_string()));
        // A child's name has no more than the effect.
        let place = match name.as_str() {
            names::CHILD => child_place(&effect.to_string()),
            _ => format!("effect {effect} {}", began.0),
        };
        let id = span_id(self.run.as_str(), &place);
        let span = self.span(name, id, visit_id(&self.run, visit), at, item, attributes);
        SpanData { span_kind: kind, status, ..span }
    }

    fn ended(&mut self, item: &TimelineItem, disposition: Disposition) -> SpanData {
        let chart = self.chart.to_string();
        let name = format!("{} {chart}", names::INVOKE_AGENT);
        let mut attributes = vec![
            KeyValue::new(names::OPERATION, names::INVOKE_AGENT),
            KeyValue::new(names::AGENT_NAME, chart),
            KeyValue::new(names::DISPOSITION, disposition.name()),
        ];
        if let Some(version) = self.version {
            attributes.push(KeyValue::new(names::AGENT_VERSION, version.to_string()));
        }
        let mut status = Status::Unset;
        if disposition != Disposition::Succeeded {
            attributes.push(KeyValue::new(names::ERROR_TYPE, disposition.name()));
            status = Status::error("");
        }
        let id = run_id(&self.run);
        let parent = caller(&self.run)
            .map_or(SpanId::INVALID, |(run, effect)| span_id(run, &child_place(&effect)));
        SpanData { status, ..self.span(name, id, parent, At(0), item, attributes) }
    }

    /// Returns a span that ends with an item.
    fn span(
        &mut self,
        name: String,
        id: SpanId,
        parent: SpanId,
        start: At,
        end: &TimelineItem,
        mut attributes: Vec<KeyValue>,
    ) -> SpanData {
        attributes.push(KeyValue::new(names::RUN, self.run.to_string()));
        attributes.push(KeyValue::new(names::CONVERSATION, self.run.to_string()));
        attributes.push(KeyValue::new(names::SEQ, number(end.seq.0)));
        let flags = TraceFlags::SAMPLED;
        let scope = InstrumentationScope::builder("pointsman");
        SpanData {
            span_context: SpanContext::new(self.id, id, flags, false, TraceState::default()),
            parent_span_id: parent,
            parent_span_is_remote: false,
            span_kind: SpanKind::Internal,
            name: Cow::Owned(name),
            // The end first: its moment is nearer.
            end_time: self.time(end.at),
            start_time: self.time(start),
            attributes,
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: Status::Unset,
            instrumentation_scope: scope.with_version(env!("CARGO_PKG_VERSION")).build(),
        }
    }

    fn event(&mut self, name: &'static str, item: &TimelineItem, attributes: Vec<KeyValue>) {
        if self.events.len() < MAX_EVENTS {
            let at = self.time(item.at);
            self.events.push(Event::new(name, at, attributes, 0));
        } else {
            self.dropped = self.dropped.saturating_add(1);
        }
    }

    /// Returns a moment of the run. Runs count from their beginning, which the first item that this process sees
    /// tells: it has just happened.
    fn time(&mut self, at: At) -> SystemTime {
        let began = self.began_ms.get_or_insert_with(|| now_ms().saturating_sub(at.0));
        let ms = began.saturating_add(at.0);
        UNIX_EPOCH.checked_add(Duration::from_millis(ms)).unwrap_or(UNIX_EPOCH)
    }
}

/// Returns the attributes of a call.
fn called(call: &ToolCall, content: bool) -> Vec<KeyValue> {
    let mut attributes = vec![
        KeyValue::new(names::TOOL_NAME, call.tool.clone()),
        KeyValue::new(names::TOOL_CALL_ID, call.id.clone()),
    ];
    attributes.extend(content.then(|| content::arguments(call)));
    attributes
}

/// Returns the kind of an error, from a short list.
fn error_type(ok: bool, answer: &Answer<Body>) -> Option<String> {
    match answer {
        Answer::Fault(fault) => Some(word(&fault.class)),
        Answer::Child(end) if end.ended != Disposition::Succeeded => Some(end.ended.name().into()),
        Answer::Tool(_) if !ok => Some("tool_error".into()),
        _ if !ok => Some("task_error".into()),
        _ => None,
    }
}

/// Returns a provider by the name that the conventions give it, and the model.
fn model_name(name: &str) -> (String, String) {
    // A name for people can end with a remark.
    let name = name.split(" (").next().unwrap_or(name);
    let (provider, model) = name.split_once(':').unwrap_or((name, name));
    let provider = match provider {
        "gemini" => "gcp.gemini",
        "openai-responses" => "openai",
        other => other,
    };
    (provider.into(), model.into())
}

/// Returns a word as JSON has it.
fn word<T: Serialize>(word: &T) -> String {
    let word = serde_json::to_value(word).unwrap_or_default();
    word.as_str().unwrap_or_default().to_owned()
}

fn number(number: u64) -> Value {
    Value::I64(i64::try_from(number).unwrap_or(i64::MAX))
}

/// Returns the id of a trace: that of the root run.
fn trace_id(run: &RunId) -> TraceId {
    let root = run.as_str().split('-').next().unwrap_or_default();
    let [high, low] = digest(root, "trace");
    TraceId::from((u128::from(high) << 64) | u128::from(low))
}

/// Returns the run that started a child, and by which effect: a child is named `PARENT-ENTRY-INDEX`.
fn caller(run: &RunId) -> Option<(&str, String)> {
    let (rest, index) = run.as_str().rsplit_once('-')?;
    let (parent, entry) = rest.rsplit_once('-')?;
    Some((parent, format!("{entry}.{index}")))
}

/// Returns the place of a child run among the spans of the run that started it.
fn child_place(effect: &str) -> String {
    format!("child {effect}")
}

fn span_id(run: &str, place: &str) -> SpanId {
    SpanId::from(digest(run, place)[0])
}

/// Returns the id of a run's own span.
fn run_id(run: &RunId) -> SpanId {
    span_id(run.as_str(), "run")
}

/// Returns the id of a stay in a state: the first, the second and so on.
fn visit_id(run: &RunId, visit: u64) -> SpanId {
    span_id(run.as_str(), &format!("visit {visit}"))
}

/// Returns two numbers that are derived from a run and a place in it.
fn digest(run: &str, place: &str) -> [u64; 2] {
    let digest = Digest::of(format!("pointsman {run} {place}").as_bytes());
    let number = |from: usize| {
        let bytes = digest.0.iter().skip(from).take(8);
        bytes.fold(0_u64, |number, byte| (number << 8) | u64::from(*byte))
    };
    [number(0), number(8)]
}
