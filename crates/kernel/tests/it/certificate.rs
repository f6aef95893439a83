//! Certificates: reached exactly where they can be, and never passed.

use pointsman_kernel::{
    chart::{Certificate, CertificateScope, Chart, Disposition},
    run::ItemStatus,
};

use crate::{
    brute_force::{Sums, longest},
    charts::Genes,
    drive::{Cost, DrivenRun, World},
    scripted::{ScriptedRun, chart},
};

pub(crate) fn sums(chart: &Chart) -> Sums {
    let Certificate { steps, model_calls, tool_calls, time_ms, .. } = chart.certificate();
    [steps, model_calls, tool_calls, time_ms]
}

/// Drives the chart the longest way round and returns what that cost.
pub(crate) fn driven(chart: &Chart) -> Sums {
    let mut drive = DrivenRun::new(chart, Genes(&[]), World::Slow);
    let begun = drive.begin();
    drive.apply(begun);
    while drive.run.core.ended.is_none() && drive.run.core.wake.is_some() {
        let seen = drive.next();
        drive.apply(seen);
    }
    let Cost { steps, model_calls, tool_calls, time_ms } = drive.cost;
    [steps, model_calls, tool_calls, time_ms]
}

#[test]
fn a_single_loop_is_walked_to_its_last_round() {
    let chart = chart(
        r#"
        [budget]
        rounds = { max = 5, else = "bad" }
        [state.think]
        run = "think"
        timeout = "100ms"
        on.a = "end"
        on.b = { to = "think", spend = "rounds" }
        on.failed = "end"
        "#,
    );
    assert_eq!(sums(&chart), [7, 6, 0, 600]);
    assert_eq!(driven(&chart), sums(&chart));
}

#[test]
fn attempts_and_hints_count() {
    let chart = chart(
        r#"
        [state.think]
        run = "think"
        timeout = "100ms"
        attempts = 3
        backoff = { base = "10ms", cap = "20ms" }
        hint_cap = "50ms"
        on.a = "end"
        on.b = "end"
        on.failed = "end"
        "#,
    );
    assert_eq!(sums(&chart), [2, 3, 0, 400]);
    assert_eq!(driven(&chart), sums(&chart));
}

#[test]
fn loops_within_loops_multiply() {
    let chart = chart(
        r#"
        [budget]
        outer = { max = 2, else = "bad" }
        middle = { max = 3, reset = "outer", else = "bad" }
        inner = { max = 1, reset = "middle", else = "bad" }
        [state.work]
        run = "run4"
        timeout = "10ms"
        hint_cap = "0ms"
        on.a = { to = "work", spend = "inner" }
        on.b = { to = "work", spend = "middle" }
        on.c = { to = "work", spend = "outer" }
        on.d = "end"
        on.failed = "end"
        "#,
    );
    assert_eq!(sums(&chart), [3 * 4 * 2 + 1, 0, 0, 240]);
    assert_eq!(driven(&chart), sums(&chart));
}

#[test]
fn the_way_over_else_counts() {
    let chart = chart(
        r#"
        [budget]
        rounds = { max = 3, else = "rest" }
        [state.work]
        run = "run2"
        timeout = "10ms"
        on.a = "end"
        on.b = { to = "work", spend = "rounds" }
        on.failed = "end"
        [state.rest]
        run = "run2"
        timeout = "1s"
        on.a = "last"
        on.b = "end"
        on.failed = "end"
        [state.last]
        run = "run2"
        timeout = "10ms"
        on.a = "end"
        on.b = "end"
        on.failed = "end"
        "#,
    );
    assert_eq!(sums(&chart), [7, 0, 0, 4 * 10 + 1000 + 10]);
    assert_eq!(driven(&chart), sums(&chart));
}

#[test]
fn a_conversation_is_bounded_by_the_turn() {
    let chart = chart(
        r#"
        [budget]
        rounds = { max = 4, reset = "await", else = "bad" }
        [state.idle]
        await = ["go", "stop"]
        on.go = "think"
        on.stop = "end"
        [state.think]
        run = "think"
        timeout = "10ms"
        on.a = "idle"
        on.b = "act"
        on.failed = "idle"
        [state.act]
        run = "run1"
        timeout = "10ms"
        on.a = { to = "think", spend = "rounds" }
        on.failed = "idle"
        "#,
    );
    assert_eq!(chart.certificate().per, CertificateScope::Turn);
    assert_eq!(sums(&chart), [11, 5, 0, 100]);
    // Turn after turn costs as much; the last one goes round once too often and ends.
    let mut scripted = ScriptedRun::new(&chart);
    scripted.play("begin");
    for (last, visits) in [("a", 10), ("a", 10), ("b", 11)] {
        let before = scripted.recorder.run().core.visits;
        scripted.play("give go");
        for outcome in ["b", "a", "b", "a", "b", "a", "b", "a", last, "a"] {
            scripted.play(&format!("answer {}.0 {outcome}", scripted.lines.len()));
        }
        assert_eq!(scripted.recorder.run().core.visits - before, visits);
    }
    assert_eq!(scripted.recorder.run().core.ended, Some(Disposition::Failed));
}

#[test]
fn a_fan_out_takes_as_many_rounds_as_its_places_ask_for() {
    let chart = chart(
        r#"
        [state.each]
        fan_out = { over = "items", run = "think", join = "join1", max_parallel = 2, max_items = 5 }
        timeout = "100ms"
        attempts = 2
        hint_cap = "50ms"
        on.a = "end"
        "#,
    );
    assert_eq!(sums(&chart), [2, 10, 0, 3 * 250]);
    let mut drive = DrivenRun::new(&chart, Genes(&[0, 0, 0, 0, 0, 0, 5]), World::Slow);
    let begun = drive.begin();
    drive.apply(begun);
    assert_eq!(drive.run.core.items.len(), 5);
    while drive.run.core.ended.is_none() {
        let seen = drive.next();
        drive.apply(seen);
    }
    let Cost { steps, model_calls, tool_calls, time_ms } = drive.cost;
    assert_eq!([steps, model_calls, tool_calls, time_ms], sums(&chart));
}

#[test]
fn the_first_turn_counts_though_only_time_begins_it() {
    let chart = chart(
        r#"
        [budget]
        again = { max = 1, reset = "await", else = "bad" }
        [state.idle]
        await = ["go"]
        timeout = "1s"
        on.go = "end"
        on.timeout = "work"
        [state.work]
        run = "run2"
        timeout = "10ms"
        on.a = "end"
        on.b = { to = "idle", spend = "again" }
        on.failed = "bad"
        "#,
    );
    assert_eq!(chart.certificate().per, CertificateScope::Turn);
    assert_eq!(sums(&chart)[0], longest(&chart)[0]);
}

#[test]
fn budget_used_up_in_earlier_turns_leads_to_else() {
    let chart = chart(
        r#"
        [budget]
        turns = { max = 2, else = "rest" }
        [state.idle]
        await = ["go"]
        on.go = "work"
        [state.work]
        run = "run2"
        timeout = "10ms"
        on.a = "end"
        on.b = { to = "idle", spend = "turns" }
        on.failed = "bad"
        [state.rest]
        run = "run1"
        timeout = "1s"
        on.a = "last"
        on.failed = "bad"
        [state.last]
        run = "run1"
        timeout = "1s"
        on.a = "end"
        on.failed = "bad"
        "#,
    );
    assert_eq!(chart.certificate().per, CertificateScope::Turn);
    assert_eq!(sums(&chart), [4, 0, 0, 2010]);
    assert_eq!(longest(&chart), sums(&chart));
}

#[test]
fn else_state_is_not_charged_as_a_step() {
    let chart = chart(
        r#"
        [budget]
        steps = { max = 1, charge = "step", else = "bad" }
        one = { max = 0, else = "second" }
        two = { max = 0, else = "third" }
        [state.first]
        run = "run2"
        timeout = "10ms"
        on.a = "end"
        on.b = { to = "first", spend = "one" }
        on.failed = "bad"
        [state.second]
        run = "run2"
        timeout = "10ms"
        on.a = "end"
        on.b = { to = "first", spend = "two" }
        on.failed = "bad"
        [state.third]
        run = "run1"
        timeout = "10ms"
        on.a = "end"
        on.failed = "bad"
        "#,
    );
    let mut scripted = ScriptedRun::new(&chart);
    for line in ["begin", "answer 1.0 b", "answer 2.0 b", "answer 3.0 a"] {
        scripted.play(line);
    }
    assert_eq!(scripted.recorder.run().core.visits, 4);
    assert!(chart.certificate().steps >= 4, "{:?}", chart.certificate());
}

#[test]
fn else_of_time_may_find_other_budgets_used_up() {
    let chart = chart(
        r#"
        [budget]
        time = { max = "15ms", charge = "time", else = "rest" }
        rounds = { max = 1, else = "long" }
        [state.work]
        run = "run2"
        timeout = "10ms"
        on.a = "end"
        on.b = { to = "work", spend = "rounds" }
        on.failed = "bad"
        [state.rest]
        run = "run2"
        timeout = "10ms"
        on.a = { to = "end", spend = "rounds" }
        on.b = "end"
        on.failed = "bad"
        [state.long]
        run = "run1"
        timeout = "1s"
        on.a = "end"
        on.failed = "bad"
        "#,
    );
    let mut scripted = ScriptedRun::new(&chart);
    for line in ["begin", "+10 answer 1.0 b", "wake", "+10 answer 3.1 a", "wake"] {
        scripted.play(line);
    }
    assert_eq!(scripted.recorder.run().core.ended, Some(Disposition::Failed));
    assert_eq!(scripted.recorder.run().core.now.0, 15 + 10 + 1000);
    assert_eq!(chart.certificate().time_ms, 15 + 10 + 1000);
}

#[test]
fn times_that_are_up_together_lead_through_both_ways() {
    let chart = chart(
        r#"
        [budget]
        first = { max = "10ms", charge = "time", else = "pick" }
        second = { max = "10ms", charge = "time", else = "one" }
        [state.work]
        run = "run1"
        timeout = "20ms"
        on.a = "end"
        on.failed = "end"
        [state.pick]
        decide = "fork1"
        on.a = "two"
        [state.one]
        decide = "fork1"
        on.a = "two"
        [state.two]
        decide = "fork1"
        on.a = "end"
        "#,
    );
    let mut scripted = ScriptedRun::new(&chart);
    scripted.play("begin");
    let passed = scripted.play("wake");
    assert!(passed.starts_with("work -first used up-> pick; pick -a, second used up-> one; "));
    assert_eq!(scripted.recorder.run().core.visits, 5);
    assert!(chart.certificate().steps >= 5);
}

#[test]
fn item_that_asks_again_gives_up_its_place() {
    // Two places, six items of 200 ms each. Item 1 asks between its attempts, lets item
    // 4 go first, and makes item 5 wait for it: three rounds are not enough.
    let chart = chart(
        r#"
        [state.each]
        fan_out = { over = "items", run = "call", join = "join1", max_parallel = 2, max_items = 6 }
        timeout = "100ms"
        attempts = 2
        hint_cap = "0ms"
        tools = "all"
        on.a = "end"
        on.stuck = "bad"
        "#,
    );
    let mut scripted = ScriptedRun::new(&chart);
    scripted.play("begin may=ask_erase items=6 tools=020000");
    while scripted.recorder.run().core.ended.is_none() {
        let items = &scripted.recorder.run().core.items;
        let asking = items.iter().find_map(|item| match item.doing {
            ItemStatus::Asking { effect, .. } => Some(effect),
            _ => None,
        });
        scripted
            .play(&asking.map_or_else(|| "wake".to_owned(), |effect| format!("grant {effect}")));
    }
    assert_eq!(scripted.recorder.run().core.now.0, 700);
    assert_eq!(chart.certificate().time_ms, 700);
}
