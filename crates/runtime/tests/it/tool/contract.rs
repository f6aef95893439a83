//! What every tool promises, and a tool that nothing else in the program knows.

use std::{
    fs,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use pointsman_agents::chat::ChatAgent;
use pointsman_kernel::{
    agent::{Agent as _, ToolResult},
    body::Body,
    chart::Disposition,
    governor::{Grant, Level, Permissions},
    tool::{Recovery, ToolDecl},
};
use pointsman_runtime::{
    driver::RunStatus,
    effect::{Completion, ProgressSink},
    engine::EngineConfig,
    model::{self, Spec},
    observe::Notice,
    session::{ApprovalDecision, ApprovalRequest, Approver, ApproverReply, Session, StartOptions},
    store::RunId,
    timeline::TimelineKind,
    tool::{
        Arguments, Tool, ToolContext, ToolFuture, ToolLimits, ToolSettings, ToolSpec, Toolbox,
        View, WorkspaceTools,
    },
};
use serde_json::{Map, Value, json};

use super::{call, permit, result, wait};
use crate::store::TempFolder;

/// Returns arguments that fit a schema, one text for each that must be there.
fn some(spec: &ToolSpec) -> Value {
    let required = spec.parameters["required"].as_array().expect("the value is a list");
    let value = |name: &Value| {
        let name = name.as_str().expect("a name");
        let value = match spec.parameters["properties"][name]["items"]["type"].as_str() {
            Some("object") => json!([{ "description": "look" }]),
            Some(_) => json!(["status"]),
            None => json!("a"),
        };
        (name.to_owned(), value)
    };
    Value::Object(required.iter().map(value).collect::<Map<_, _>>())
}

#[test]
fn only_read_only_shipped_tools_run_without_asking() {
    let tools = Toolbox::default();
    let looks = tools.iter().filter(|tool| tool.kind().only_looks());
    let names: Vec<&str> = looks.map(|tool| tool.name()).collect();
    assert_eq!(names, ["context.fts_search", "list", "read", "search"]);
}

#[test]
fn every_shipped_tool_declares_describes_and_answers_always() {
    let (tools, mut declared) = (Toolbox::default(), pointsman_agents::tools());
    // An agent's own tool is where its executor is.
    declared.retain(|decl| &*decl.name != pointsman_agents::form::SUBMIT_TOOL);
    assert_eq!(tools.iter().count(), declared.len(), "charts know the same tools");
    for (tool, known) in tools.iter().zip(declared) {
        let name = tool.name();
        assert_eq!(tool.decl(), known, "{name}: in the same order");
        assert!(charted(name), "{name}: charts can name it");
        let Some(spec) = tool.spec(&ToolLimits::default()) else {
            // Only an agent's own code calls it, and every yes counts once.
            assert_eq!(tool.always(&Arguments::default()), None, "{name}");
            continue;
        };
        assert_eq!((&*spec.name, spec.about.is_empty()), (name, false));
        let schema = jsonschema_of(&spec);
        let arguments = some(&spec);
        assert!(schema, "{name}: {arguments}");
        let call = call(name, arguments);
        let whole = tools.describe_whole(&call, None);
        assert!(!whole.is_empty(), "{name}");
        // A tool that a person is asked for says in words what it would do.
        let described = tools.describe(&call);
        assert_eq!(described.is_some(), !tool.kind().only_looks(), "{name}: {described:?}");
        for rule in tools.grants(&call) {
            assert_eq!((rule.tool.as_str(), rule.level), (name, Level::Allow));
            assert!(
                rule.arguments
                    .iter()
                    .all(|(argument, _)| { spec.parameters["properties"].get(argument).is_some() })
            );
        }
        assert_eq!(tools.is_once(&call), tools.whole(&call).is_none(), "{name}");
        assert!(tools.is_once(&call) || !tools.grants(&call).is_empty(), "{name}");
    }
}

fn charted(name: &str) -> bool {
    pointsman_agents::TOOLS.iter().any(|tool| tool.name == name)
}

fn jsonschema_of(spec: &ToolSpec) -> bool {
    spec.parameters["type"] == "object" && spec.parameters["additionalProperties"] == false
}

/// Puts a word into a file: a tool that is defined here and nowhere else.
#[derive(Default)]
struct Stamp(AtomicUsize);

impl Stamp {
    fn word(arguments: &Value) -> &str {
        arguments["word"].as_str().unwrap_or_default()
    }
}

impl Tool for Stamp {
    fn name(&self) -> &'static str {
        "stamp"
    }

    fn decl(&self) -> ToolDecl {
        let decl = ToolDecl::write(self.name(), &["path"]).with_paths(&["path"]);
        ToolDecl { recovery: Recovery::Probe, ..decl }
    }

    fn spec(&self, _: &ToolLimits) -> Option<ToolSpec> {
        let parameters = json!({
            "type": "object",
            "properties": { "path": { "type": "string" }, "word": { "type": "string" } },
            "required": ["path", "word"],
            "additionalProperties": false,
        });
        Some(ToolSpec { name: "stamp".into(), about: "Stamps a file.".into(), parameters })
    }

    fn call<'a>(&'a self, calling: ToolContext<'a>, arguments: Value) -> ToolFuture<'a> {
        Box::pin(async move {
            self.0.fetch_add(1, Ordering::Relaxed);
            let path = arguments["path"].as_str().unwrap_or_default();
            let path = calling.tools.folder().inside(path).expect("it was checked");
            let file = calling.tools.folder().root().join(path);
            fs::write(file, Self::word(&arguments)).expect("the file is written");
            let output = format!("stamped as {}", calling.call.tool);
            Completion::result(ToolResult { ok: true, output, mutated: true })
        })
    }

    fn refuses(&self, _: &WorkspaceTools, arguments: &Value) -> Option<String> {
        (Self::word(arguments) == "rude").then(|| "that word is not stamped".into())
    }

    fn probe(&self, tools: &WorkspaceTools, arguments: &Value) -> Option<Completion> {
        let file = tools.folder().root().join(arguments["path"].as_str()?);
        let stamped = fs::read_to_string(file).is_ok_and(|it| it == Self::word(arguments));
        Some(Completion::tool(stamped, "looked at the stamp"))
    }

    fn describe(&self, arguments: &Arguments, view: &View<'_>) -> Option<String> {
        let (path, word) = (arguments.text("path")?, arguments.text("word")?);
        Some(format!("stamp {} with {}", view.line(path), view.line(word)))
    }

    fn always(&self, arguments: &Arguments) -> Option<Vec<Grant>> {
        let arguments = vec![("word".into(), arguments.text("word")?.into())];
        Some(vec![Grant { tool: "stamp".into(), arguments, level: Level::Allow, until: None }])
    }
}

/// Says yes, and keeps what was asked as a person reads it.
struct Yes(Toolbox, Vec<String>);

impl Approver for Yes {
    fn decide(&mut self, asking: &ApprovalRequest<'_>) -> ApproverReply {
        let call = asking.question.call().expect("a call is asked for");
        let rules = self.0.grants(call).into_iter().map(|rule| rule.arguments[0].1.clone());
        self.1.push(format!(
            "{}; always {}",
            self.0.describe_whole(call, None),
            rules.collect::<String>()
        ));
        ApproverReply::Decided(ApprovalDecision {
            granted: true,
            reason: "fine".into(),
            remember: None,
        })
    }
}

const SCRIPT: &str = "
[[turn]]
when = 'go'
text = 'a'
calls = [{ tool = 'stamp', arguments = { path = 'a.txt', word = 1 } }]
[[turn]]
text = 'b'
calls = [{ tool = 'stamp', arguments = { path = '../a.txt', word = 'hello' } }]
[[turn]]
text = 'c'
calls = [{ tool = 'stamp', arguments = { path = 'a.txt', word = 'rude' } }]
[[turn]]
text = 'd'
calls = [{ tool = 'stamp', arguments = { path = 'a.txt', word = 'hello' } }]
[[turn]]
text = 'done'
";

#[test]
fn foreign_tool_works_from_offer_to_result() {
    let folder = TempFolder::new("tool-stranger");
    let work = folder.0.join("work");
    fs::create_dir_all(&work).expect("the folder is created");
    fs::write(folder.0.join("script.toml"), SCRIPT).expect("the file is written");
    let model: Spec = format!("script:{}", folder.0.join("script.toml").display())
        .parse()
        .expect("the text names a model");
    let session =
        Session::open(pointsman_agents::all(), &folder.journal(), &folder.0.join("cache"));
    let session = session.unwrap_or_else(|error| panic!("it opens: {error}"));
    let stamp = Arc::new(Stamp::default());
    let mut tools = ToolSettings::over(&work, folder.0.join("index.db"));
    tools.toolbox = tools.toolbox.with([Arc::clone(&stamp) as Arc<dyn Tool>]);
    let settings = EngineConfig::new(model::ModelSettings::new(model), tools);
    let executor = session.executor(settings).unwrap_or_else(|error| panic!("a host: {error}"));
    let permissions = Permissions { otherwise: Level::Ask, rules: Vec::new(), attended: true };
    let offered = executor.offered(&ChatAgent::DECL, &permissions);
    assert!(offered.iter().any(|spec| &*spec.name == "stamp"), "{offered:?}");

    let source = pointsman_agents::chat::CHART;
    let start = StartOptions {
        program: crate::program(source),
        source: source.into(),
        config: Body::canonical(&json!({})),
        words: vec![Body::canonical(&json!({ "text": "go" }))],
        goal: "stamp".into(),
        permissions,
        seed: Some(7),
    };
    let results = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&results);
    let observer = move |_: &RunId, notice: &Notice| {
        if let Some(output) = notice.kind().and_then(TimelineKind::output) {
            seen.lock()
                .expect("no thread panicked while it held the lock")
                .push(output.to_string());
        }
    };
    let mut person = Yes(executor.tools().toolbox().clone(), Vec::new());
    let ran = session.run(&executor, start, vec![Arc::new(observer)], &mut person);
    let ran = ran.unwrap_or_else(|error| panic!("it runs: {error}"));
    assert_eq!(ran.status, RunStatus::Ended(Disposition::Succeeded));
    assert_eq!(person.1, ["stamp a.txt with hello; always hello"], "asked once, in its own words");
    let results = results.lock().expect("no thread panicked while it held the lock").join("\n");
    for said in ["`word`: value is not of type", "not stamped", "stamped as stamp"] {
        assert!(results.contains(said), "{said}: {results}");
    }
    assert!(!folder.0.join("a.txt").exists(), "nothing outside the workspace");
    assert_eq!(
        fs::read_to_string(work.join("a.txt")).expect("the file exists and is UTF-8"),
        "hello"
    );
    assert_eq!(stamp.0.load(Ordering::Relaxed), 1, "called once");

    // After a crash it is looked for before it is done again.
    let mut again = permit();
    again.again = true;
    for (word, calls) in [("hello", 1), ("other", 2)] {
        let call = call("stamp", json!({ "path": "a.txt", "word": word }));
        let done = wait(executor.tools().call(&call, &again, &ProgressSink::none()));
        assert!(result(done).ok);
        assert_eq!(stamp.0.load(Ordering::Relaxed), calls, "{word}");
    }
}
