//! What holds for every accepted chart, whatever the world answers.

use pointsman_kernel::{
    StepResult,
    chart::{CertificateScope, Charge, Chart, Reset, State, StateKind},
    effect::{Cause, Hop},
    event::{Event, Observed, Scope},
    id::Digest,
    journal::{RecordResult, Recorder},
    replay::replay,
    run::Core,
};
use proptest::prelude::*;

use crate::{
    charts::{Genes, Shape, random, sketch},
    drive::{Cost, DrivenRun, World},
    scripted_agent::{Report, ScriptedAgent},
};

/// More events than any run of these charts can take.
const ENDLESS: usize = 20_000;

fn genes(longest: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..longest)
}

fn worlds() -> impl Strategy<Value = World> {
    prop_oneof![Just(World::Random), Just(World::Eager), Just(World::Slow)]
}

fn assert_within(chart: &Chart, cost: Cost) {
    let certificate = chart.certificate();
    let proved = Cost {
        steps: certificate.steps,
        model_calls: certificate.model_calls,
        tool_calls: certificate.tool_calls,
        time_ms: certificate.time_ms,
    };
    let within = cost.steps <= proved.steps
        && cost.model_calls <= proved.model_calls
        && cost.tool_calls <= proved.tool_calls
        && cost.time_ms <= proved.time_ms;
    assert!(
        within,
        "{cost:?} is beyond {proved:?} per {:?} in\n{}",
        certificate.per,
        sketch(chart)
    );
}

/// Attempts never exceed the limit of the state.
fn assert_attempts(chart: &Chart, core: &Core) {
    if let Some(StateKind::Run(work) | StateKind::FanOut { work, .. }) =
        chart.state(core.state).map(State::kind)
    {
        let most = core.items.iter().map(|item| item.attempt).max().unwrap_or(0);
        assert!(most <= work.attempts.max, "attempt {most}: {}", sketch(chart));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_run_and_every_turn_is_over_within_its_certificate(
        plan in genes(160), answers in genes(256), world in worlds(),
    ) {
        let Ok(chart) = random(&mut Genes(&plan), Shape::WHOLE) else { return Ok(()) };
        let mut drive = DrivenRun::new(&chart, Genes(&answers), world);
        let begun = drive.begin();
        drive.apply(begun);
        let mut turns = 0;
        for events in 0.. {
            assert!(events < ENDLESS, "the run does not end: {}", sketch(&chart));
            if drive.run.core.ended.is_some() || turns == 12 {
                break;
            }
            let seen = drive.next();
            if chart.certificate().per == CertificateScope::Turn && matches!(seen.event, Event::Given { .. }) {
                assert_within(&chart, drive.cost);
                drive.cost = Cost::default();
                turns += 1;
            }
            drive.apply(seen);
            assert_attempts(&chart, &drive.run.core);
        }
        assert_within(&chart, drive.cost);
    }

    #[test]
    fn interruptions_keep_calls_within_the_certificate(
        plan in genes(160), answers in genes(256), kills in genes(256), world in worlds(),
    ) {
        let Ok(chart) = random(&mut Genes(&plan), Shape::WHOLE) else { return Ok(()) };
        let mut drive = DrivenRun::new(&chart, Genes(&answers), world);
        let mut kills = Genes(&kills);
        let begun = drive.begin();
        drive.apply(begun);
        let assert_calls = |cost: Cost| {
            let proved = chart.certificate();
            let within = cost.model_calls <= proved.model_calls && cost.tool_calls <= proved.tool_calls;
            assert!(within, "{cost:?} is beyond {proved:?} in\n{}", sketch(&chart));
        };
        for events in 0.. {
            assert!(events < ENDLESS, "the run does not end: {}", sketch(&chart));
            if drive.run.core.ended.is_some() || events > 400 {
                break;
            }
            if kills.is_one_in(2) && drive.interrupt() {
                continue;
            }
            let seen = drive.next();
            if chart.certificate().per == CertificateScope::Turn && matches!(seen.event, Event::Given { .. }) {
                assert_calls(drive.cost);
                drive.cost = Cost::default();
            }
            drive.apply(seen);
        }
        assert_calls(drive.cost);
    }

    #[test]
    fn a_replay_is_the_run_to_the_last_byte(
        plan in genes(160), answers in genes(512), halfway in 0..64_usize,
    ) {
        let Ok(chart) = random(&mut Genes(&plan), Shape::WHOLE) else { return Ok(()) };
        let mut drive = DrivenRun::new(&chart, Genes(&answers), World::Random);
        let mut recorder = Recorder::<ScriptedAgent>::new(&chart);
        let (mut lines, mut prev) = (Vec::new(), Digest::default());
        let mut seen = drive.begin();
        for event in 0..64 {
            let before = drive.snapshot();
            let took = drive.offer(seen.clone());
            match recorder.record(seen.clone()) {
                Ok(RecordResult::Line(line)) => {
                    assert_eq!(took, Ok(StepResult::Applied));
                    prev = Digest::of(line.as_bytes());
                    lines.push(line);
                }
                Ok(RecordResult::Ignored(late)) => assert_eq!(took, Ok(StepResult::Ignored(late))),
                Err(rejected) => assert_eq!(took, Err(rejected)),
            }
            // What was not applied has changed nothing.
            if took != Ok(StepResult::Applied) {
                assert_eq!(drive.snapshot(), before);
            }
            if event == halfway {
                // A snapshot is as good as the run.
                let run = serde_json::from_str(&drive.snapshot()).unwrap();
                recorder = Recorder::resume(&chart, run, prev);
            }
            seen = drive.hostile_event(&seen);
        }
        let (run, last) = replay::<ScriptedAgent>(&chart, lines.iter().map(String::as_str)).unwrap();
        let text = |run| serde_json::to_string(run).unwrap();
        assert_eq!(text(&run), drive.snapshot());
        assert_eq!(text(recorder.run()), drive.snapshot());
        assert_eq!(last, prev);
    }

    #[test]
    fn an_ended_run_never_changes(plan in genes(120), answers in genes(200), junk in genes(120)) {
        let Ok(chart) = random(&mut Genes(&plan), Shape::WHOLE) else { return Ok(()) };
        let mut drive = DrivenRun::new(&chart, Genes(&answers), World::Random);
        let mut seen = drive.begin();
        drive.apply(seen.clone());
        for _ in 0..64 {
            if drive.run.core.ended.is_none() {
                seen = drive.next();
                drive.apply(seen.clone());
            }
        }
        if drive.run.core.ended.is_none() {
            seen = Observed { at: drive.run.core.now, event: Event::Cancelled { scope: Scope::Run } };
            drive.apply(seen.clone());
        }
        let (ended, hops) = (drive.snapshot(), drive.out.hops.len());
        assert!(drive.run.core.wake.is_none() && drive.run.core.items.is_empty() && hops > 0);
        drive.genes = Genes(&junk);
        for _ in 0..16 {
            seen = drive.hostile_event(&seen);
            assert_ne!(drive.offer(seen.clone()), Ok(StepResult::Applied));
            assert!(drive.out.effects.is_empty() && drive.out.hops.is_empty());
            assert_eq!(drive.snapshot(), ended);
        }
    }

    #[test]
    fn an_answer_counts_once(plan in genes(120), answers in genes(256)) {
        let Ok(chart) = random(&mut Genes(&plan), Shape::WHOLE) else { return Ok(()) };
        let mut drive = DrivenRun::new(&chart, Genes(&answers), World::Random);
        let begun = drive.begin();
        drive.apply(begun);
        let mut answered: Vec<Observed<Report>> = Vec::new();
        for _ in 0..64 {
            if drive.run.core.ended.is_some() {
                break;
            }
            let seen = drive.next();
            drive.apply(seen.clone());
            if matches!(seen.event, Event::Answered { .. } | Event::ApprovalAnswered { .. }) {
                answered.push(seen);
            }
            // The last answer and an old one come again, now.
            let old = drive.genes.below(answered.len());
            let again: Vec<_> = answered.last().into_iter().chain(answered.get(old)).cloned().collect();
            for mut late in again {
                let before = drive.snapshot();
                late.at = drive.run.core.now;
                assert!(matches!(drive.offer(late), Ok(StepResult::Ignored(_))));
                assert_eq!(drive.snapshot(), before);
            }
        }
    }

    #[test]
    fn a_budget_of_n_permits_exactly_n(
        plan in genes(160), answers in genes(256), world in worlds(),
    ) {
        let Ok(chart) = random(&mut Genes(&plan), Shape::WHOLE) else { return Ok(()) };
        let mut drive = DrivenRun::new(&chart, Genes(&answers), world);
        let mut spent = vec![0_u64; chart.budgets().len()];
        let mut seen = drive.begin();
        for _ in 0..64 {
            if matches!(seen.event, Event::Given { .. }) {
                refill(&chart, Reset::Await, &mut spent);
            }
            drive.apply(seen);
            for hop in &drive.out.hops {
                count(&chart, hop, &mut spent);
            }
            let purses = drive.run.core.balances.iter().zip(chart.budgets()).zip(&spent);
            for ((purse, budget), spent) in purses {
                assert!(purse.left <= budget.max());
                if budget.charge().is_none() {
                    assert_eq!(purse.left, budget.max() - spent, "{}", sketch(&chart));
                }
            }
            if drive.run.core.ended.is_some() {
                break;
            }
            seen = drive.next();
        }
    }
}

/// Counts what a transition has spent, by the rules of budgets alone.
fn count(chart: &Chart, hop: &Hop, spent: &mut [u64]) {
    let route =
        |outcome| chart.state(hop.from).and_then(|state| state.route(outcome)).unwrap().edge();
    let charge = |budget| chart.budget(budget).unwrap().charge();
    let paid = match hop.by {
        Cause::Outcome(outcome) => {
            assert_eq!(hop.spent, route(outcome).spend);
            hop.spent
        }
        // The edge was paid; only then did the visit turn out to be one too many.
        Cause::Beyond { budget, outcome: Some(outcome) }
            if charge(budget) == Some(Charge::Step) =>
        {
            route(outcome).spend
        }
        Cause::Beyond { budget, .. } => {
            // Nothing is refused before the last one was spent.
            if charge(budget).is_none() {
                assert_eq!(spent[budget.index()], chart.budget(budget).unwrap().max());
            }
            None
        }
        _ => None,
    };
    if let Some(id) = paid {
        spent[id.index()] += 1;
        assert!(spent[id.index()] <= chart.budget(id).unwrap().max());
        refill(chart, Reset::Spending(id), spent);
    }
}

fn refill(chart: &Chart, by: Reset, spent: &mut [u64]) {
    for (id, budget) in chart.budget_ids().zip(chart.budgets()) {
        if budget.reset() == Some(by) {
            spent[id.index()] = 0;
            refill(chart, Reset::Spending(id), spent);
        }
    }
}

#[test]
fn random_charts_are_accepted_and_go_round() {
    let mut draw = 1_u64;
    let (mut accepted, mut turns, mut loops, mut closed, mut refilled) = (0, 0, 0, 0, 0);
    for _ in 0..500 {
        let mut bytes = [0; 416];
        for byte in &mut bytes {
            draw = draw
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            *byte = (draw >> 56) as u8;
        }
        let Ok(chart) = random(&mut Genes(&bytes[..160]), Shape::WHOLE) else { continue };
        accepted += 1;
        turns += u32::from(chart.certificate().per == CertificateScope::Turn);
        let mut drive = DrivenRun::new(&chart, Genes(&bytes[160..]), World::Eager);
        let begun = drive.begin();
        drive.apply(begun);
        let (mut went_round, mut was_closed, mut was_refilled) = (false, false, false);
        for _ in 0..200 {
            if drive.run.core.ended.is_some() {
                break;
            }
            let before = drive.run.core.balances.clone();
            let seen = drive.next();
            drive.apply(seen);
            went_round |= drive.out.hops.iter().any(|hop| hop.to <= Some(hop.from));
            let purses = || before.iter().zip(&drive.run.core.balances);
            was_closed |= purses().any(|(before, after)| !before.closed && after.closed);
            was_refilled |= purses().any(|(before, after)| before.left < after.left);
        }
        loops += u32::from(went_round);
        closed += u32::from(was_closed);
        refilled += u32::from(was_refilled);
    }
    let counts = (accepted, turns, loops, closed, refilled);
    assert!(accepted > 450 && turns > 100 && turns < 400, "{counts:?}");
    assert!(loops > 150 && closed > 100 && refilled > 50, "{counts:?}");
}
