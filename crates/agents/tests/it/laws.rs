//! What every agent must keep, whatever it is for.

use std::collections::{BTreeMap, BTreeSet};

use pointsman_agents::AGENTS;
use pointsman_kernel::job::JobKind;
use serde_json::{Value, json};

use crate::{charts, world::World};

/// A configuration that each agent can begin with.
pub(crate) fn config(name: &str) -> Value {
    match name {
        "research" => json!({"goal": "Where is the parser?"}),
        "explore" => json!({"app": {"package": "app"}, "goal": "open settings"}),
        "code" => json!({"phases": [{"description": "one"}, {"description": "two"}]}),
        _ => json!({}),
    }
}

/// The event that sets each agent to work, where it waits for one.
pub(crate) fn first_event(name: &str) -> Option<Value> {
    match name {
        "chat" => Some(json!({"given": {"event": 0, "body": {"text": "hello"}}})),
        "code" => Some(json!({"given": {"event": 0, "body": {"text": "do it"}}})),
        "form" => Some(json!({"given": {"event": 0, "body": {}}})),
        _ => None,
    }
}

fn working(name: &str) -> World {
    let mut world = World::begun(name, &config(name));
    if let Some(event) = first_event(name) {
        world.event(&event).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    world
}

#[test]
fn declarations_are_in_order() {
    for agent in AGENTS {
        let mut names = BTreeSet::new();
        for job in agent.jobs {
            let name = format!("{} of {}", job.name, agent.name);
            assert!(names.insert(job.name), "{name} is declared twice");
            let mut outcomes = BTreeSet::new();
            for (outcome, _) in job.outcomes {
                assert!(outcomes.insert(outcome), "{name} declares {outcome} twice");
                let kernels = ["failed", "timeout", "stuck", "cancel", "cancel_turn", "shutdown"];
                let denied = *outcome == "denied" && job.governed.calls();
                assert!(
                    !kernels.contains(outcome) && !denied,
                    "{name}: `{outcome}` is the kernel's"
                );
            }
            match job.kind {
                JobKind::Run => {
                    assert!(job.fails.is_some(), "{name}: whatever acts can fail");
                    assert!(job.tasks >= 1, "{name} orders nothing");
                }
                _ => assert!(job.fails.is_none() && job.tasks == 0, "{name} is pure"),
            }
        }
    }
}

/// A job's name means the same in every agent.
#[test]
fn a_job_name_has_one_outcome_set_everywhere() {
    let mut known: BTreeMap<&str, (JobKind, Vec<&str>)> = BTreeMap::new();
    for job in AGENTS.iter().flat_map(|agent| agent.jobs) {
        let outcomes: Vec<&str> = job.outcomes.iter().map(|(name, _)| *name).collect();
        let (kind, first) = known.entry(job.name).or_insert_with(|| (job.kind, outcomes.clone()));
        assert_eq!((*kind, &*first), (job.kind, &outcomes), "{}", job.name);
    }
}

#[test]
fn a_configuration_that_cannot_be_read_changes_nothing() {
    for chart in charts() {
        let mut world = World::new(chart.name());
        let before = world.snapshot();
        for nonsense in [json!([1, 2]), json!("text"), json!({"no_such_key": true}), json!(7)] {
            let begun = world.begin(&nonsense);
            assert!(world.event_at(0, &begun).is_err(), "{}: {nonsense}", chart.name());
            assert_eq!(world.snapshot(), before, "{}: {nonsense}", chart.name());
        }
    }
}

#[test]
fn an_event_that_cannot_be_read_changes_nothing() {
    for chart in charts().iter().filter(|chart| first_event(chart.name()).is_some()) {
        let mut world = World::begun(chart.name(), &config(chart.name()));
        let before = world.snapshot();
        for nonsense in [json!([1, 2]), json!(7), json!({"no_such_key": true})] {
            let event = json!({"given": {"event": 0, "body": nonsense}});
            assert!(world.event(&event).is_err(), "{}: {event}", chart.name());
            assert_eq!(world.snapshot(), before, "{}: {event}", chart.name());
        }
    }
}

/// Runs until nothing is in progress, doing the same to everything.
fn until_quiet(world: &mut World, what: &str, mut act: impl FnMut(&mut World)) {
    let limit = world.chart.certificate().steps * 8;
    for _ in 0..limit {
        if world.run.core().ended.is_some() || (world.open.is_empty() && waits(world)) {
            return;
        }
        if world.open.is_empty() { world.wake() } else { act(world) }
    }
    panic!("{}: still in `{}` in a world where {what}", world.chart.name(), world.state());
}

fn waits(world: &World) -> bool {
    world.chart.state(world.run.core().state).is_some_and(pointsman_kernel::chart::State::is_await)
}

#[test]
fn run_ends_if_everything_fails() {
    for chart in charts() {
        for class in ["unavailable", "rate_limited", "invalid", "gone", "resource", "other"] {
            for repeatable in [true, false] {
                let mut world = working(chart.name());
                until_quiet(&mut world, "everything fails", |world| world.fault(class, repeatable));
            }
        }
    }
}

#[test]
fn run_ends_if_nothing_answers() {
    for chart in charts() {
        let mut world = working(chart.name());
        until_quiet(&mut world, "nothing answers", World::wake);
        let certificate = chart.certificate();
        assert!(world.run.core().visits <= certificate.steps + 1, "{}", chart.name());
    }
}

#[test]
fn run_with_a_nonsense_model_ends() {
    for chart in charts() {
        for text in ["", "{", "{\"action\": \"no such\"}", "<script>", "done", "shutting_down"] {
            let mut world = working(chart.name());
            until_quiet(&mut world, "the model writes nonsense", |world| {
                let (_, effect) = &world.open[0];
                if effect.pointer("/start/model").is_some() {
                    world.says(text);
                } else {
                    world.fault("unavailable", true);
                }
            });
        }
    }
}

#[test]
fn cancelling_stops_all_work_in_progress() {
    for chart in charts() {
        let mut world = working(chart.name());
        world.event(&json!({"cancelled": {"scope": "run"}})).expect("event is applied");
        assert_eq!(
            world.run.core().ended,
            Some(pointsman_kernel::chart::Disposition::Cancelled),
            "{}",
            chart.name()
        );
        assert!(world.open.is_empty(), "{}: {:?}", chart.name(), world.open);
    }
}
