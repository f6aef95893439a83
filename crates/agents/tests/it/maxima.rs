//! What a run may cost: the defaults, how they are changed, and what happens at a limit.

use pointsman_agents::{CHARTS, registry};
use pointsman_kernel::chart::{
    BadMaximum, CertificateScope, Chart, Disposition, Maximum, verify, with_budgets,
};
use serde_json::json;

use crate::world::World;

fn shipped(name: &str) -> &'static str {
    CHARTS.iter().find(|(known, _)| *known == name).expect("chart ships with the agents").1
}

fn set<'a>(budget: &'a str, amount: &'a str) -> Maximum<'a> {
    Maximum { budget, amount, lowers: false }
}

fn verified(source: &str) -> Chart {
    verify(source, &registry()).unwrap_or_else(|refused| panic!("{refused:#?}"))
}

#[test]
fn certificates_have_sensible_numbers() {
    const MINUTE: u64 = 60_000;
    for (name, per, model_calls, tool_calls, tokens, money, minutes) in [
        ("chat", CertificateScope::Turn, 50, 200, 2_000_000, 5_000_000, 30),
        ("code", CertificateScope::Turn, 200, 1_000, 10_000_000, 20_000_000, 240),
        ("form", CertificateScope::Run, 100, 21, 500_000, 2_000_000, 30),
    ] {
        let proved = verified(shipped(name)).certificate();
        assert_eq!(
            (proved.per, proved.model_calls, proved.tool_calls),
            (per, model_calls, tool_calls)
        );
        assert_eq!((proved.tokens, proved.money), (Some(tokens), Some(money)), "{name}");
        assert_eq!(proved.time_ms, minutes * MINUTE, "{name}");
    }
}

#[test]
fn a_limit_that_is_set_is_certified_and_changes_nothing_else() {
    let maxima = [
        set("model_calls", "7"),
        set("time", "2h"),
        set("money", "0.50"),
        set("rounds", "1_000"),
        // The last one counts.
        set("model_calls", "500"),
    ];
    let text = with_budgets(shipped("code"), maxima).expect("chart has these budgets");
    let (chart, usual) = (verified(&text), verified(shipped("code")));
    let proved = chart.certificate();
    assert_eq!((proved.model_calls, proved.money), (500, Some(500_000)));
    assert_eq!(proved.time_ms, 2 * 60 * 60_000);
    assert_eq!(proved.tokens, usual.certificate().tokens);
    assert_ne!(chart.digest(), usual.digest(), "a run is bound to its limits");
    let back = [set("model_calls", "200"), set("time", "4h"), set("money", "20.00")];
    assert_eq!(
        verified(&with_budgets(&text, back).expect("chart has these budgets")).digest(),
        usual.digest()
    );
}

#[test]
fn a_limit_that_only_lowers_raises_nothing() {
    let max = |amount: &str| {
        let maximum = Maximum { budget: "model_calls", amount, lowers: true };
        let text = with_budgets(shipped("chat"), [maximum]).expect("chart has these budgets");
        verified(&text).certificate().model_calls
    };
    assert_eq!((max("10"), max("50"), max("5000")), (10, 50, 50));
}

#[test]
fn a_limit_that_cannot_be_meant_is_refused_with_a_hint() {
    let refused = |budget, amount| {
        let error =
            with_budgets(shipped("chat"), [set(budget, amount)]).expect_err("input is invalid");
        assert_eq!(matches!(error, BadMaximum::Unknown { .. }), budget == "model_call", "{error}");
        error.hint().to_owned()
    };
    assert_eq!(refused("model_call", "5"), "did you mean `model_calls`?");
    for amount in ["0", "-1", "+1", "many", "1.5", "2h"] {
        assert_eq!(
            refused("model_calls", amount),
            "write a whole number of at least 1: `model_calls=100`"
        );
    }
    for amount in ["30", "1.5m", "0s", "5m\" }"] {
        assert_eq!(refused("time", amount), "write a duration: `time=30m` or `time=2h`");
    }
    for amount in ["5$", "1.2345678", "", "0"] {
        assert_eq!(refused("money", amount), "write an amount, such as `money=2.50`");
    }
}

/// Lets a model look at one thing after the other, until it is stopped.
fn looks(world: &mut World, state: &str) -> u32 {
    let mut calls = 0;
    while world.state() == state {
        calls += 1;
        world.proposes("", &[("a", "read", json!({"path": format!("{calls}.rs")}))]);
        if world.run.core().ended.is_none() && world.state() != "waiting_for_user_input" {
            world.tool(true, &format!("the text of file {calls}"), false);
        }
    }
    calls
}

#[test]
fn a_turn_of_chat_that_reaches_its_limit_waits_for_the_person() {
    let mut world = World::begun("chat", &json!({}));
    for _ in 0..2 {
        world.given(0, &json!({"text": "Look at everything."}));
        assert_eq!(looks(&mut world, "calling_llm"), 50);
        assert_eq!(world.state(), "waiting_for_user_input");
        let error = world.run.turn_error().expect("turn ended with an error");
        assert!(error.message.starts_with("the limit of 50 model calls is reached"), "{error:?}");
    }
}

#[test]
fn work_on_code_that_reaches_its_limit_ends_as_budget() {
    let mut world = World::begun("code", &json!({"phases": [{"description": "look"}]}));
    world.given(0, &json!({"text": "Look at everything."}));
    assert_eq!(looks(&mut world, "streaming_response"), 200);
    assert_eq!(world.run.core().ended, Some(Disposition::Budget));
}
