//! An agent that does not ship, with its own executor: the runtime knows only its declaration.

mod dropped;
mod engine;

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use pointsman_kernel::{
    agent::{
        Abandoned, Agent, Answer, BadBody, Fault, FaultClass, Order, Settlement, Summary, Visit,
    },
    agents::Agents,
    chart::Disposition,
    erased::AgentRow,
    governor::{Level, Permissions},
    id::{JobId, Outcome, Seq},
    job::{AgentDecl, Influence, JobDecl, job_id},
};
use pointsman_runtime::{
    driver::RunStatus,
    effect::{CleanupFuture, Permit},
    executor::{Executor, Executors, TaskFuture},
    local_executor::LocalExecutor,
    model::{self, Spec},
    observe::QuestionKind,
    session::{ApprovalDecision, Delivery, RunSummary, StartOptions, Unattended, replay},
    store::RunId,
    timeline::{Projector, TimelineKind},
};
use serde::{Deserialize, Serialize};
use serde_json::{json, value::RawValue};

use crate::session::TestSession;

/// Counts sheep, and asks before it shears them.
struct Shepherd;

/// Two of these look like tasks of agents that ship: one like a form's, one like a question.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Task {
    Extract,
    Ask { question: String },
    Confirm { sheep: u32 },
}

#[derive(Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Report {
    Sheep(u32),
    Said(String),
    Agreed { yes: bool, why: String },
}

#[derive(Debug, Default, Deserialize, Serialize)]
struct Flock {
    sheep: u32,
    said: String,
}

const PLAIN: Influence = Influence::None;
const COUNT: JobDecl = JobDecl { name: "count", outcomes: &[("counted", PLAIN)], ..JobDecl::RUN };
const HEAR: JobDecl = JobDecl { name: "hear", outcomes: &[("heard", PLAIN)], ..JobDecl::RUN };
const AGREE: JobDecl = JobDecl {
    name: "agree",
    outcomes: &[("yes", PLAIN), ("no", PLAIN)],
    person: true,
    ..JobDecl::RUN
};
const JOBS: &[JobDecl] = &[COUNT, HEAR, AGREE];
const COUNT_ID: JobId = job_id(JOBS, "count");
const HEAR_ID: JobId = job_id(JOBS, "hear");

impl Agent for Shepherd {
    type Data = Flock;
    type Task = Task;
    type Report = Report;

    const DECL: AgentDecl =
        AgentDecl { name: "shepherd", revision: "1", jobs: JOBS, ..AgentDecl::NONE };

    fn begin(_: &mut Flock, _: &RawValue) -> Result<(), BadBody> {
        Ok(())
    }

    fn receive(_: &mut Flock, _: u16, _: &RawValue) -> Result<(), BadBody> {
        Ok(())
    }

    fn items(_: &Flock, _: u16) -> u16 {
        0
    }

    fn brief(flock: &Flock, visit: &Visit<'_>) -> Order<Task> {
        Order::own(match visit.job {
            COUNT_ID => Task::Extract,
            HEAR_ID => Task::Ask { question: "Is the wolf near?".into() },
            _ => Task::Confirm { sheep: flock.sheep },
        })
    }

    fn settle(flock: &mut Flock, _: &Visit<'_>, answer: Answer<Report>) -> Settlement<Task> {
        match answer {
            Answer::Own(Report::Sheep(sheep)) => flock.sheep = sheep,
            Answer::Own(Report::Said(said)) => flock.said = said,
            Answer::Own(Report::Agreed { yes, why }) => {
                flock.said.push_str(&why);
                return Settlement::Outcome(AGREE.outcome(if yes { "yes" } else { "no" }));
            }
            Answer::Fault(fault) => return Settlement::Failed(fault),
            _ => panic!("nothing else was ordered"),
        }
        Settlement::Outcome(Outcome(0))
    }

    fn abandon(_: &mut Flock, _: &Visit<'_>, _: &Abandoned) {}

    fn decide(_: &mut Flock, _: &Visit<'_>) -> Outcome {
        Outcome(0)
    }

    fn result(flock: &Flock) -> Option<String> {
        Some(format!("{} sheep, {}", flock.sheep, flock.said))
    }

    fn describe_task(task: &Task) -> Option<String> {
        (*task == Task::Extract).then(|| "counts the sheep".into())
    }

    fn describe_report(report: &Report) -> Option<Summary> {
        match report {
            Report::Sheep(sheep) => Some(Summary::line(true, format!("{sheep} of them"))),
            _ => None,
        }
    }

    fn question(task: &Task) -> Option<String> {
        match task {
            Task::Confirm { sheep } => Some(format!("Shear {sheep} sheep?")),
            _ => None,
        }
    }

    fn reply(yes: bool, text: &str) -> Option<Report> {
        Some(Report::Agreed { yes, why: text.into() })
    }

    fn is_yes(report: &Report) -> bool {
        matches!(report, Report::Agreed { yes: true, .. })
    }
}

const CHART: &str = r#"
chart     = "pasture"
version   = 1
jobs      = "shepherd"
start     = "counting"
authority = "text"
[defaults]
timeout  = "60s"
[any]
cancel = "lost"
[state.counting]
run        = "count"
on.counted = "listening"
on.failed  = "lost"
[state.listening]
run      = "hear"
on.heard = "asking"
on.failed = "lost"
[state.asking]
run       = "agree"
timeout   = "1h"
on.yes    = "shorn"
on.no     = "woolly"
on.failed = "lost"
[state.shorn]
final = "succeeded"
[state.woolly]
final = "denied"
[state.lost]
final = "failed"
"#;

/// Carries out the tasks, and counts them.
#[derive(Clone, Default)]
struct Dog {
    performed: Arc<AtomicUsize>,
    ended: Arc<Mutex<Vec<Disposition>>>,
}

impl Executor<Shepherd> for Dog {
    fn perform(&self, permit: Permit, task: Task) -> TaskFuture<Report> {
        assert_eq!(permit.agent, "shepherd");
        self.performed.fetch_add(1, Ordering::Relaxed);
        let report = match task {
            Task::Extract => Ok(Report::Sheep(7).into()),
            Task::Ask { question } => Ok(Report::Said(format!("{question} No. ")).into()),
            Task::Confirm { .. } => Err(Fault {
                class: FaultClass::Contract,
                repeatable: false,
                hint_ms: None,
                message: "a dog agrees to everything".into(),
            }),
        };
        Box::pin(async move { report })
    }

    fn ended(&self, _: &RunId, how: Disposition) -> CleanupFuture {
        self.ended.lock().expect("no thread panicked while it held the lock").push(how);
        Box::pin(std::future::ready(()))
    }
}

fn agents() -> Agents {
    Agents::new().with(&[AgentRow::of::<Shepherd>()]).with_charts(&[("pasture", CHART)])
}

fn executor(desk: &TestSession, executors: Executors) -> LocalExecutor {
    let model = model::ModelSettings::new(Spec::quote());
    let settings = desk.settings(model, None);
    desk.host_from(pointsman_runtime::engine::EngineConfig { executors, ..settings })
}

fn run(desk: &TestSession, executor: &LocalExecutor) -> RunSummary {
    let start = StartOptions {
        program: desk.session.agents().verify(CHART).expect("the chart is accepted"),
        source: CHART.into(),
        config: json!({}).into(),
        words: Vec::new(),
        goal: "wool".into(),
        permissions: Permissions { otherwise: Level::Ask, rules: Vec::new(), attended: true },
        seed: Some(7),
    };
    let ran = desk.session.run(executor, start, Vec::new(), &mut Unattended);
    ran.unwrap_or_else(|error| panic!("it runs: {error}"))
}

#[test]
fn a_strangers_agent_runs_asks_and_is_resumed_like_any_other() {
    let desk = TestSession::with("stranger", agents());
    let dog = Dog::default();
    let executor = executor(&desk, Executors::default().with::<Shepherd>(dog.clone()));
    let asked = run(&desk, &executor);
    // What looks like a form's task and like a question went to its executor, and nowhere else.
    assert_eq!((asked.status, dog.performed.load(Ordering::Relaxed)), (RunStatus::Asking, 2));
    let [question] = &asked.questions[..] else { panic!("one question: {asked:?}") };
    assert!(matches!(&question.asks, QuestionKind::Plain(text) if text == "Shear 7 sheep?"));
    let yes = ApprovalDecision { granted: true, reason: "Gently.".into(), remember: None };
    let delivery = desk.session.decide(&asked.run, question, &yes);
    assert!(matches!(delivery, Ok(Delivery::Waiting)), "{delivery:?}");
    let answers = desk.session.answers(&asked.run).expect("they are read");
    assert_eq!(answers.get(&question.effect), Some(&true));
    let resumed = desk.session.resume(&executor, &asked.run, Vec::new(), &mut Unattended);
    let ended = resumed.unwrap_or_else(|error| panic!("it is resumed: {error}"));
    assert_eq!(ended.status, RunStatus::Ended(Disposition::Succeeded));
    assert_eq!(ended.result.as_deref(), Some("7 sheep, Is the wolf near? No. Gently."));
    assert_eq!(
        *dog.ended.lock().expect("no thread panicked while it held the lock"),
        [Disposition::Succeeded]
    );
    let (agents, store) = (desk.session.agents(), &**desk.session.store());
    assert!(desk.session.block_on(replay(agents, store, &asked.run, None)).is_ok());
    let recalled = desk.session.recall(&asked.run, None).expect("the run is recalled");
    let mut projector = Projector::new(Arc::new(recalled.program), asked.run.clone());
    let items = projector.fold_all(&recalled.lines).expect("it is told");
    let answers = items.iter().filter_map(|item| match &item.kind {
        TimelineKind::Answered { did, what, .. } => Some((&**did, &**what)),
        _ => None,
    });
    let said: Vec<(&str, &str)> = answers.collect();
    assert_eq!(
        said,
        [
            ("counts the sheep", "7 of them"),
            ("runs the task `ask`", ""),
            ("asks: Shear 7 sheep?", "")
        ]
    );
}

#[test]
fn task_without_executor_fails_at_once() {
    let desk = TestSession::with("stranger-alone", agents());
    let outcome = run(&desk, &executor(&desk, Executors::default()));
    assert_eq!(outcome.status, RunStatus::Ended(Disposition::Failed));
    let lines = desk
        .session
        .block_on(desk.session.store().lines(&outcome.run, Seq(0)))
        .expect("the store is readable");
    assert!(
        lines[1].contains("no executor is registered for the agent `shepherd`"),
        "{}",
        lines[1]
    );
}

#[test]
fn run_of_an_unknown_agent_is_refused_and_kept() {
    let desk = TestSession::with("stranger-gone", agents());
    let executor = executor(&desk, Executors::default().with::<Shepherd>(Dog::default()));
    let asked = run(&desk, &executor);
    let store = &**desk.session.store();
    let shipped = pointsman_agents::all();
    let refused = desk.session.block_on(replay(&shipped, store, &asked.run, None));
    let why = refused.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(why.contains("refuses the chart"), "{why}");
    let replayed = replay(desk.session.agents(), store, &asked.run, None);
    assert!(desk.session.block_on(replayed).is_ok());
}
