//! Bounds of random and of large charts, beside what trying everything finds.

use pointsman_kernel::{
    chart::{
        Authority, CertificateScope, Chart, ChartBuilder, Disposition, RefusedChart, StateBuilder,
    },
    diagnostic::Code,
};
use proptest::prelude::*;

use crate::{
    brute_force::longest,
    certificate::{driven, sums},
    charts::{Genes, Shape, random, sketch},
    scripted::{chart, verified},
    scripted_agent::REGISTRY,
};

/// Loops within loops around one state, each as often as the list says.
fn nested(rounds: [u64; 3]) -> Result<Chart, RefusedChart> {
    let [outer, middle, inner] = rounds;
    verified(&format!(
        r#"
        [budget]
        outer = {{ max = {outer}, else = "bad" }}
        middle = {{ max = {middle}, reset = "outer", else = "bad" }}
        inner = {{ max = {inner}, reset = "middle", else = "bad" }}
        [state.work]
        run = "run4"
        timeout = "10ms"
        on.a = {{ to = "work", spend = "inner" }}
        on.b = "more"
        on.c = "end"
        on.d = "end"
        on.failed = "end"
        [state.more]
        run = "think"
        timeout = "1ms"
        on.a = {{ to = "work", spend = "middle" }}
        on.b = {{ to = "work", spend = "outer" }}
        on.failed = "end"
        "#
    ))
}

/// What the nested loops come to: `more` once per round of the outer two, `work` once
/// per round of all three.
fn formula([outer, middle, inner]: [u64; 3]) -> [u64; 4] {
    let more = (outer + 1) * (middle + 1);
    let work = more * (inner + 1);
    [work + more + 1, more, 0, 10 * work + more]
}

#[test]
fn exact_and_composed_bounds_agree_for_a_reset_chain() {
    for rounds in [[0, 0, 0], [1, 2, 3], [4, 0, 5], [7, 8, 9]] {
        assert_eq!(sums(&nested(rounds).unwrap()), formula(rounds), "{rounds:?}");
    }
    assert_eq!(driven(&nested([1, 2, 3]).unwrap()), formula([1, 2, 3]));
    // Too large to be searched: three states times the budgets pass 2^18.
    for rounds in [[50, 50, 50], [1_000, 1_000, 0], [9, 99_999, 9], [200_000, 1, 300]] {
        assert_eq!(sums(&nested(rounds).unwrap()), formula(rounds), "{rounds:?}");
    }
}

/// Two loops that have nothing to do with each other.
fn apart(one: u64, two: u64) -> Chart {
    chart(&format!(
        r#"
        [budget]
        one = {{ max = {one}, else = "bad" }}
        two = {{ max = {two}, else = "bad" }}
        [state.first]
        run = "think"
        timeout = "1ms"
        on.a = {{ to = "first", spend = "one" }}
        on.b = "second"
        on.failed = "end"
        [state.second]
        run = "run2"
        timeout = "5ms"
        on.a = {{ to = "second", spend = "two" }}
        on.b = "end"
        on.failed = "end"
        "#
    ))
}

#[test]
fn budgets_that_are_independent_are_never_bounded_too_low() {
    for (one, two) in [(3, 4), (0, 9), (600, 700), (70_000, 3)] {
        let least = [one + two + 3, one + 1, 0, one + 1 + 5 * (two + 1)];
        let proved = sums(&apart(one, two));
        assert!(proved.iter().zip(least).all(|(proved, least)| *proved >= least), "{proved:?}");
        if one * two < 1 << 16 {
            assert_eq!(proved, least);
        }
    }
}

#[test]
fn useless_bound_is_rejected() {
    for rounds in [[1_000_000_000; 3], [9_000_000_000_000_000, 0, 0]] {
        let refused = nested(rounds).unwrap_err();
        let codes: Vec<Code> = refused.diagnostics.iter().map(|found| found.code).collect();
        assert_eq!(codes, [Code::TooLarge], "{rounds:?}");
    }
}

#[test]
fn a_chart_built_in_rust_meets_the_same_rules_about_zero() {
    let built = |state: StateBuilder| {
        let state = state.on("a", "end").on("b", "end");
        ChartBuilder::new("zero", "toy", "work", Authority::Text)
            .cancel("end")
            .state(state)
            .state(StateBuilder::ends("end", Disposition::Succeeded))
            .verify(&REGISTRY)
    };
    let codes = |chart: Result<Chart, RefusedChart>| -> Vec<Code> {
        chart.unwrap_err().diagnostics.iter().map(|found| found.code).collect()
    };
    let run = || StateBuilder::run("work", "run2", 10).on("failed", "end");
    let fan = || StateBuilder::fan_out("work", "items", "run2", "join2", 10);
    assert!(built(run().attempts(1, 0, 0)).is_ok() && built(fan().items(1, 1)).is_ok());
    // No attempt would cost nothing, and yet the first is made.
    assert_eq!(codes(built(run().attempts(0, 0, 0))), [Code::BadValue]);
    // No place would let the items wait forever.
    assert_eq!(codes(built(fan().items(0, 1))), [Code::BadValue]);
}

fn plans() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..100)
}

fn assert_covers(chart: &Chart) {
    let (proved, tried) = (sums(chart), longest(chart));
    let covers = proved.iter().zip(tried).all(|(proved, tried)| *proved >= tried);
    assert!(covers, "{proved:?} is below {tried:?} in\n{}", sketch(chart));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn exact_search_equals_brute_force(plan in plans()) {
        let Ok(chart) = random(&mut Genes(&plan), Shape::BARE) else { return Ok(()) };
        match chart.certificate().per {
            CertificateScope::Run => assert_eq!(sums(&chart), longest(&chart), "{}", sketch(&chart)),
            // The balances at the start of a turn are not followed from turn to turn.
            _ => assert_covers(&chart),
        }
    }

    #[test]
    fn levels_are_exact_for_loops_within_loops(plan in plans()) {
        let large = Shape { pad: true, ..Shape::CHAIN };
        let Ok(small) = random(&mut Genes(&plan), Shape::CHAIN) else { return Ok(()) };
        let Ok(large) = random(&mut Genes(&plan), large) else { return Ok(()) };
        assert_eq!(sums(&large), sums(&small), "{}", sketch(&large));
    }

    #[test]
    fn levels_are_never_too_low(plan in plans()) {
        let large = Shape { pad: true, ..Shape::BARE };
        let Ok(large) = random(&mut Genes(&plan), large) else { return Ok(()) };
        assert_covers(&large);
    }
}
