//! The stranger's agent in a program that awaits: no threads of the engine's own, no file.

use std::time::Duration;

use pointsman_kernel::{chart::Disposition, governor::Permissions};
use pointsman_runtime::{
    driver::RunStatus,
    engine::{Engine, EngineConfig, EngineError, RunHandle},
    model,
    observe::{LiveNotice, Notice, Question},
    session::{ApprovalDecision, StartOptions},
    store::{Filter, MemoryStore, Page, Store},
    tool,
};
use serde_json::json;

use super::{CHART, Dog, Shepherd, agents};

/// How long anything may take that is not stuck.
const LIMIT: Duration = Duration::from_mins(1);

async fn engine(store: impl Store, dog: &Dog) -> Engine {
    let builder = Engine::builder(store).agents(agents()).executor::<Shepherd>(dog.clone());
    // Settings may come after what was added.
    let model = model::ModelSettings::new(model::Spec::quote());
    let config = EngineConfig::new(model, tool::ToolSettings::within("."));
    builder.config(config).build().await.unwrap_or_else(|error| panic!("it is set up: {error}"))
}

fn start(engine: &Engine) -> StartOptions {
    StartOptions {
        program: engine.agents().verify(CHART).expect("the chart is accepted"),
        source: CHART.into(),
        config: json!({}).into(),
        goal: "shear".into(),
        words: Vec::new(),
        permissions: Permissions::allow_all(),
        seed: Some(7),
    }
}

fn yes() -> ApprovalDecision {
    ApprovalDecision { granted: true, reason: "Gently.".into(), remember: None }
}

/// Waits until the run asks.
async fn asked(run: &mut RunHandle) -> Question {
    let asks = async {
        loop {
            let notice = run.next().await.expect("it is driven");
            if let Notice::Live(LiveNotice::Ask(question)) = notice {
                return question;
            }
        }
    };
    tokio::time::timeout(LIMIT, asks).await.expect("the event comes before the timeout")
}

#[tokio::test]
async fn a_run_is_started_answered_and_over() -> Result<(), EngineError> {
    let dog = Dog::default();
    let engine = engine(MemoryStore::new(), &dog).await;
    let mut run = engine.start(start(&engine)).await?;
    let question = asked(&mut run).await;
    run.commands().decide(question.effect, yes());
    let outcome = tokio::time::timeout(LIMIT, run.wait())
        .await
        .expect("the event comes before the timeout")?;
    assert_eq!(outcome.status, RunStatus::Ended(Disposition::Succeeded));
    assert_eq!(outcome.result.as_deref(), Some("7 sheep, Is the wolf near? No. Gently."));
    let listed = engine.list(&Filter::default(), &Page::first(99)).await?;
    assert_eq!(listed.runs.first().and_then(|row| row.ended.as_deref()), Some("succeeded"));
    // Another way from before the end.
    let fork = engine.fork(&outcome.run, None).await?;
    let mut run = engine.resume(&fork).await?;
    let question = asked(&mut run).await;
    run.commands().decide(question.effect, ApprovalDecision { granted: false, ..yes() });
    let outcome = tokio::time::timeout(LIMIT, run.wait())
        .await
        .expect("the event comes before the timeout")?;
    assert_eq!(outcome.status, RunStatus::Ended(Disposition::Denied));
    Ok(())
}

#[tokio::test]
async fn dropped_handle_releases_the_run_for_resuming() -> Result<(), EngineError> {
    let (store, dog) = (MemoryStore::new(), Dog::default());
    let first = engine(store.clone(), &dog).await;
    let mut run = first.start(start(&first)).await?;
    let (question, id) = (asked(&mut run).await, run.run().clone());
    let held = first.resume(&id).await.err().map(|error| error.to_string());
    assert_eq!(held, Some(format!("run {id} is owned by another process")));
    let before = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    drop(run);
    // The task ends when it is next polled.
    let gone = async {
        while tokio::runtime::Handle::current().metrics().num_alive_tasks() >= before {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LIMIT, gone).await.expect("its task ends");
    drop(store.claim(&id).await?.expect("nobody has it"));

    // Another engine, as after a restart: what was done is not done again.
    let second = engine(store, &dog).await;
    let performed = dog.performed.load(std::sync::atomic::Ordering::Relaxed);
    let mut run = second.resume(&id).await?;
    let again = asked(&mut run).await;
    assert_eq!(again.effect, question.effect);
    run.commands().decide(again.effect, yes());
    let outcome = tokio::time::timeout(LIMIT, run.wait())
        .await
        .expect("the event comes before the timeout")?;
    assert_eq!(outcome.status, RunStatus::Ended(Disposition::Succeeded));
    assert_eq!(dog.performed.load(std::sync::atomic::Ordering::Relaxed), performed);
    Ok(())
}

#[tokio::test]
async fn unattended_run_is_detached_when_it_only_waits() -> Result<(), EngineError> {
    let engine = engine(MemoryStore::new(), &Dog::default()).await;
    let run = engine.start(start(&engine)).await?;
    let id = run.run().clone();
    let outcome = tokio::time::timeout(LIMIT, run.wait()).await.expect("it is not waited for")?;
    assert_eq!(outcome.status, RunStatus::Asking);
    assert_eq!(outcome.questions.len(), 1);
    // An answer by message counts when the run is resumed.
    let program = engine.agents().verify(CHART).expect("the chart is accepted");
    let question = outcome.questions.first().expect("the list is not empty");
    let event = pointsman_runtime::session::approval(&*program.start(), question, &yes());
    engine.send(&id, &event).await?;
    let outcome = engine.resume(&id).await?.wait();
    let outcome =
        tokio::time::timeout(LIMIT, outcome).await.expect("the event comes before the timeout")?;
    assert_eq!(outcome.status, RunStatus::Ended(Disposition::Succeeded));
    Ok(())
}

#[tokio::test]
async fn two_engines_drive_fifty_runs_on_one_thread() -> Result<(), EngineError> {
    let (one, two) = (MemoryStore::new(), MemoryStore::new());
    let dog = Dog::default();
    let engines = [engine(one, &dog).await, engine(two, &dog).await];
    let mut runs = Vec::new();
    for at in 0..50 {
        let engine = &engines[at % 2];
        runs.push(engine.start(start(engine)).await?);
    }
    for mut run in runs {
        let question = asked(&mut run).await;
        run.commands().decide(question.effect, yes());
        let outcome = tokio::time::timeout(LIMIT, run.wait())
            .await
            .expect("the event comes before the timeout")?;
        assert_eq!(outcome.status, RunStatus::Ended(Disposition::Succeeded));
    }
    assert_eq!(engines[0].list(&Filter::default(), &Page::first(99)).await?.runs.len(), 25);
    Ok(())
}
