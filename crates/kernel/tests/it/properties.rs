//! What holds for every accepted chart, whatever the world answers.

use pointsman_kernel::{
    chart::{Chart, Per},
    event::Event,
};
use proptest::prelude::*;

use crate::{
    charts::{Genes, Shape, random, sketch},
    drive::{Cost, Drive, World},
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

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_run_and_every_turn_is_over_within_its_certificate(
        plan in genes(160), answers in genes(256), world in worlds(),
    ) {
        let Ok(chart) = random(&mut Genes(&plan), Shape::WHOLE) else { return Ok(()) };
        let mut drive = Drive::new(&chart, Genes(&answers), world);
        let begun = drive.begin();
        drive.apply(begun);
        let mut turns = 0;
        for events in 0.. {
            assert!(events < ENDLESS, "the run does not end: {}", sketch(&chart));
            if drive.run.core.ended.is_some() || turns == 12 {
                break;
            }
            let seen = drive.next();
            if chart.certificate().per == Per::Turn && matches!(seen.event, Event::Given { .. }) {
                assert_within(&chart, drive.cost);
                drive.cost = Cost::default();
                turns += 1;
            }
            drive.apply(seen);
        }
        assert_within(&chart, drive.cost);
    }
}

#[test]
fn tmp_stats() {
    let mut rng = 12345_u64;
    let mut ok = 0;
    let mut why = std::collections::BTreeMap::new();
    let (mut turn, mut resets, mut spent, mut ended, mut evs) = (0, 0, 0, 0, 0usize);
    for _ in 0..3000 {
        let mut bytes = vec![0u8; 416];
        for b in &mut bytes {
            rng = rng.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            *b = (rng >> 40) as u8;
        }
        match random(&mut Genes(&bytes[..160]), Shape::WHOLE) {
            Err(r) => {
                for d in r.diagnostics {
                    *why.entry(format!("{} {}", d.code, d.message)).or_insert(0) += 1;
                }
            }
            Ok(chart) => {
                ok += 1;
                if chart.certificate().per == Per::Turn {
                    turn += 1;
                }
                if chart.budgets().iter().any(|b| b.reset().is_some()) {
                    resets += 1;
                }
                let mut drive = Drive::new(&chart, Genes(&bytes[160..]), World::Eager);
                let b = drive.begin();
                drive.apply(b);
                let mut any = false;
                for _ in 0..500 {
                    if drive.run.core.ended.is_some() {
                        ended += 1;
                        break;
                    }
                    let s = drive.next();
                    drive.apply(s);
                    evs += 1;
                    any |= drive.out.hops.iter().any(|h| h.spent.is_some());
                }
                if any {
                    spent += 1;
                }
            }
        }
    }
    println!("ok {ok} turn {turn} resets {resets} spent {spent} ended {ended} evs {evs} {why:#?}");
}
