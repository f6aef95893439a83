//! Drives the kernel from your own loop: the kernel says what to do, the
//! caller does it, when and how it likes. No runtime crate is involved.
//!
//! The agent rolls a die until it has thrown a six or its throws are used up. Run it:
//!
//! ```sh
//! cargo run -p pointsman-kernel --example foreign_loop
//! ```

#![expect(clippy::print_stdout, reason = "an example shows something")]

use std::{collections::VecDeque, error::Error};

use pointsman_kernel::{
    agent::{Abandoned, Agent, Answer, BadBody, Order, Settlement, Visit},
    chart::verify,
    effect::{Effect, EffectKind},
    event::{Event, Observed, RunConfig, Usage},
    governor::Permissions,
    id::{At, Outcome},
    job::{AgentDecl, Influence, JobDecl, Registry},
    journal::{RecordResult, Recorder, body},
    replay::replay,
    view::view,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

const CHART: &str = r#"
chart     = "dice"
version   = 1
jobs      = "dice"
start     = "throwing"
authority = "text"

[budget]
throws = { max = 5, else = "unlucky" }

[any]
cancel = "cancelled"

[state.throwing]
run     = "die.throw"
timeout = "1s"
on.six    = "lucky"
on.other  = { to = "throwing", spend = "throws" }
on.failed = "unlucky"

[state.lucky]
final = "succeeded"
[state.unlucky]
final = "failed"
[state.cancelled]
final = "cancelled"
"#;

/// The agent: what it knows, and the pure halves of its one job.
struct Dice;

#[derive(Default, Deserialize, Serialize)]
struct Thrown {
    throws: Vec<u8>,
}

#[derive(Deserialize, Serialize)]
struct Throw;

const THROW: JobDecl = JobDecl {
    name: "die.throw",
    outcomes: &[("six", Influence::None), ("other", Influence::None)],
    ..JobDecl::RUN
};
const SIX: Outcome = THROW.outcome("six");
const OTHER: Outcome = THROW.outcome("other");

impl Agent for Dice {
    type Data = Thrown;
    type Task = Throw;
    type Report = u8;
    const DECL: AgentDecl = AgentDecl { name: "dice", jobs: &[THROW], ..AgentDecl::NONE };

    fn begin(_: &mut Thrown, _: &RawValue) -> Result<(), BadBody> {
        Ok(())
    }
    fn receive(_: &mut Thrown, _: u16, _: &RawValue) -> Result<(), BadBody> {
        Ok(())
    }
    fn items(_: &Thrown, _: u16) -> u16 {
        0
    }
    fn brief(_: &Thrown, _: &Visit<'_>) -> Order<Throw> {
        Order::own(Throw)
    }
    fn settle(data: &mut Thrown, _: &Visit<'_>, answer: Answer<u8>) -> Settlement<Throw> {
        match answer {
            Answer::Own(eyes) => {
                data.throws.push(eyes);
                Settlement::Outcome(if eyes == 6 { SIX } else { OTHER })
            }
            Answer::Fault(fault) => Settlement::Failed(fault),
            other => unreachable!("the kernel lets only fitting answers through: {other:?}"),
        }
    }
    fn abandon(_: &mut Thrown, _: &Visit<'_>, _: &Abandoned) {}
    fn decide(_: &mut Thrown, _: &Visit<'_>) -> Outcome {
        OTHER
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let registry = Registry { agents: &[Dice::DECL], tools: &[], children: &[] };
    let chart = verify(CHART, &registry).map_err(|refused| format!("{refused:?}"))?;
    println!("proved: at most {} state visits", chart.certificate().steps);

    let mut recorder = Recorder::<Dice>::new(&chart);
    let mut journal: Vec<String> = Vec::new();
    let mut inbox = VecDeque::from([Event::Begun(Box::new(RunConfig {
        chart: chart.name().into(),
        version: chart.version(),
        digest: chart.digest(),
        seed: 7,
        permissions: Permissions::default(),
        tools: Vec::new(),
        checks: false,
        queued: false,
        config: body(&())?,
        place: None,
    }))]);

    // The loop: 1. wait for an event; 2. and 3. step; 4. write; 5. start; and again.
    let mut at = At(0);
    while let Some(event) = inbox.pop_front() {
        at = at.after(10);
        let RecordResult::Line(line) = recorder.record(Observed { at, event })? else { continue };
        journal.push(line); // A real caller flushes to disk here, before it acts.
        for Effect { id, order } in &recorder.out().effects {
            if let EffectKind::Start(Order::Own { task: Throw, .. }) = order {
                let eyes = u8::try_from((id.seq.0.pow(3) + 2) % 6 + 1)?; // Not much of a die.
                println!("effect {id}: threw a {eyes}");
                let answer = Answer::Own(eyes);
                inbox.push_back(Event::Answered {
                    effect: *id,
                    answer,
                    usage: Usage::default(),
                    sent: None,
                });
            }
        }
    }
    println!(
        "ended: {:?} in `{}`",
        recorder.run().core.ended,
        view(&chart, &recorder.run().core).state
    );

    let (again, _) = replay::<Dice>(&chart, journal.iter().map(String::as_str))?;
    println!("replayed {} entries: the same throws {:?}", journal.len(), again.data.throws);
    Ok(())
}
