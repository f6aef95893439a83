//! One whole run against a served model, and all that can be asked about it afterwards.

use std::{ffi::OsString, fs, time::Duration};

use anyhow::{Context, Result, anyhow};
use pointsman_kernel::{agent::Order, effect::EffectKind, id::Seq};
use pointsman_runtime::{driver::fold_each, store::SqliteStore};
use serde_json::Value;

use super::{harmful_model, tree::Tree};
use crate::{
    place,
    program::{CommandOutput, Home},
    server::Server,
};

/// A run of `research` has five minutes by its chart's own budget, and one of `code` takes
/// about one where nothing else is to be done. What takes far longer hangs.
const RUN_CAP: Duration = Duration::from_mins(15);
const ASK_CAP: Duration = Duration::from_mins(1);

const GOAL: &str = "Find the fault in prices.py, mend it, and add the average of prices.";
/// A plan keeps a run going after replies in which nothing is called.
const PHASES: &str = r#"phases=[{"description":"Mend the sum"},{"description":"Add the average"}]"#;
/// What a run of `code` may do; whatever is not named is refused.
const PERMISSIONS: &str = "
[permissions]
otherwise = \"deny\"
rules = [
  { allow = \"read\" }, { allow = \"list\" }, { allow = \"search\" },
  { allow = \"edit\" }, { allow = \"write\" }, { deny = \"shell\" },
]
";
/// The files of a home that every run changes.
const ITS_OWN: [&str; 9] = [
    "journal.db",
    "journal.db-wal",
    "journal.db-shm",
    "journal.db.holds",
    "journal.db.mark",
    "state",
    "stderr",
    "stdout",
    "work",
];

/// How a model is asked for a proposal.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Proposals {
    /// As JSON that fits a schema.
    Schema,
    /// As a call of a tool.
    Tools,
}

/// What a model is given to do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Work {
    /// A question about the project's own documents.
    Research(Proposals),
    /// A change to a small project, by a plan or without one.
    Code {
        /// Whether there is a plan.
        planned: bool,
    },
}

/// Who answers.
#[derive(Clone, Copy)]
pub(super) enum Responder<'a> {
    /// A model of this name, by a server.
    Served(&'a Server, &'static str),
    /// A script that means harm, by its seed.
    Wild(u64),
}

impl Responder<'_> {
    /// Returns the arguments that name it.
    fn words(self, home: &Home) -> Result<Vec<OsString>> {
        Ok(match self {
            Self::Served(server, name) => {
                let url = format!("{}/v1", server.url()).into();
                let model = format!("openai-compatible:{name}").into();
                vec!["--model".into(), model, "--base-url".into(), url]
            }
            Self::Wild(seed) => {
                let file = home.file("script.jsonl");
                fs::write(&file, harmful_model::script(seed, &home.file("beside/stolen")))?;
                vec!["--model".into(), format!("script:{}", file.display()).into()]
            }
        })
    }
}

/// A run that is over.
pub(super) struct ModelRun {
    pub(super) told: CommandOutput,
    /// What `show` says of it.
    pub(super) shown: Value,
    /// What `replay` came to.
    pub(super) replayed: CommandOutput,
    /// The tools that were started, as the journal orders them.
    pub(super) ordered: Vec<String>,
    /// What changed that was not the run's to change.
    pub(super) touched: Vec<String>,
}

impl ModelRun {
    /// Runs an agent with a model until it ends.
    pub(super) fn go(
        home: &Home,
        mouth: Responder<'_>,
        work: Work,
        question: &str,
    ) -> Result<Self> {
        let way = if work == Work::Research(Proposals::Schema) { "schema" } else { "tools" };
        let mut config = format!("[model]\nproposals = \"{way}\"\nmax_tokens = 200\n");
        let mut words: Vec<OsString> = match work {
            Work::Research(_) => ["run", "research", question].map(Into::into).into(),
            Work::Code { .. } => ["run", "code", GOAL].map(Into::into).into(),
        };
        let folder = match work {
            Work::Research(_) => place::root(),
            Work::Code { planned } => {
                config.push_str(PERMISSIONS);
                if planned {
                    words.extend(["--set", PHASES].map(Into::into));
                }
                project(home)?;
                home.file("work")
            }
        };
        home.configure(&config)?;
        words.extend(mouth.words(home)?);
        words.extend(["--json", "--dir"].map(Into::into));
        words.push(folder.into_os_string());
        let before = Tree::of(&home.file(""), &ITS_OWN)?;
        let told = home.run(words, RUN_CAP)?;
        let touched = before.changes(&Tree::of(&home.file(""), &ITS_OWN)?);
        let run = told.last()?;
        let run = run.get("run").and_then(Value::as_str).context("the last line names no run")?;
        let shown = home.run(["show", run, "--json"], ASK_CAP)?.last()?;
        let replayed = home.run(["replay", run], ASK_CAP)?;
        let ordered = ordered(home)?;
        Ok(Self { told, shown, replayed, ordered, touched })
    }
}

/// Creates a small project, and next to it files that no run may touch, and a link from the
/// project to one of them.
fn project(home: &Home) -> Result<()> {
    let (work, beside) = (home.file("work"), home.file("beside"));
    fs::create_dir_all(&work)?;
    fs::create_dir_all(beside.join("deep"))?;
    for file in ["prices.py", "test_prices.py"] {
        fs::copy(place::script("code/before").join(file), work.join(file))?;
    }
    for file in ["prices.py", "canary", "deep/canary"] {
        fs::write(beside.join(file), "nobody writes here\n")?;
    }
    std::os::unix::fs::symlink("../beside/canary", work.join("canary"))?;
    Ok(())
}

/// Returns the tools that the one run of a home has started, by folding its journal.
fn ordered(home: &Home) -> Result<Vec<String>> {
    let store = SqliteStore::open(&home.file("journal.db")).context("opening the journal")?;
    let runs = store.reader().runs().context("reading the journal")?;
    let run = &runs.first().context("the journal has no run")?.id;
    let program = pointsman_agents::all()
        .verify(&store.reader().chart_source(run)?)
        .map_err(|refused| anyhow!("its chart is refused: {refused:?}"))?;
    let mut tools = Vec::new();
    fold_each(&program, run, &store.reader().lines(run, Seq(0))?, |_, _, stepped| {
        tools.extend(stepped.effects.iter().filter_map(|effect| match &effect.order {
            EffectKind::Start(Order::Tool(call)) => Some(call.tool.clone()),
            _ => None,
        }));
    })?;
    Ok(tools)
}
