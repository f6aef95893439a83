//! What holds for every run that the governor watches.

use std::fmt::Write as _;

use pointsman_kernel::{
    agent::{Answer, FaultClass, ToolResult},
    governor::Verdict,
    id::Seq,
};
use proptest::prelude::*;

use super::governed::{GovernedRun, changed, chart, no, ok};

/// Every rule, at thresholds that short runs reach.
const RULES: &str = "identical_call = 4\nidentical_query = 3\nsame_error = 4\nfailing_tool = 5\n\
                     oscillation = 4\nno_progress = 4\nsteps_in_state = 9\nduplicate_message = 3\n\
                     monologue = 4\nunparsable = 3";

/// What happens in a round.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// A call: the tool, what it is about, what it says.
    Call(u8, u8, u8),
    /// Words alone.
    Talk(u8),
    Fault,
    Person,
    Phase,
}

fn acts(longest: usize) -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        12 => (0..7_u8, 0..3_u8, 0..4_u8).prop_map(|(tool, what, says)| Act::Call(tool, what, says)),
        2 => (0..4_u8).prop_map(Act::Talk),
        1 => Just(Act::Fault),
        1 => Just(Act::Person),
        1 => Just(Act::Phase),
    ];
    // Mostly the same again, or two in turn, as loops have them.
    let acts =
        (act.clone(), act, 1..6_usize, any::<bool>()).prop_map(|(one, other, times, turn)| {
            if turn { [one, other].repeat(times) } else { vec![one; times] }
        });
    prop::collection::vec(acts, 0..longest).prop_map(|acts| acts.concat())
}

/// Variations of a run that should not count.
#[derive(Clone, Copy, Debug, Default)]
struct Wording {
    /// Draws the order of keys, the ids, and the masked parts of results.
    seed: u64,
}

impl Wording {
    fn draw(&mut self, below: u64) -> u64 {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.seed >> 33) % below
    }

    fn arguments(&mut self, what: u8) -> String {
        let mut members = [
            format!(r#""path":"{what}""#),
            format!(r#""q":"the word {what}""#),
            match self.draw(2) {
                0 => r#""deep":{"a":[1,{"b":2}],"c":null}"#.to_owned(),
                _ => r#""deep" : { "c":null , "a":[1, {"b":2}] }"#.to_owned(),
            },
        ];
        members.rotate_left(usize::try_from(self.draw(3)).unwrap());
        if self.draw(2) == 1 {
            members.swap(0, 1);
        }
        format!("{{{}}}", members.join(","))
    }

    fn result(&mut self, says: u8) -> ToolResult {
        let mut output = format!("case {} of 2\n", says % 2);
        let (hour, minute) = (self.draw(24), self.draw(60));
        let _ = writeln!(output, "[2026-11-{:02}T{hour:02}:{minute:02}:07Z]", 1 + self.draw(28));
        let _ = writeln!(
            output,
            "finished in {}.{}s, {}ms",
            self.draw(9),
            self.draw(99),
            self.draw(900)
        );
        let id = (self.draw(1 << 30), self.draw(1 << 16));
        let _ = writeln!(output, "{:08x}-{:04x}-4d3c-a456-4266141740a1", id.0, id.1);
        match says {
            0 | 1 => ok(&output),
            2 => no(&output),
            _ => changed(&output),
        }
    }
}

fn play(governed: &mut GovernedRun<'_>, act: Act, telling: &mut Wording) {
    const TOOLS: [&str; 7] = ["edit", "fetch", "read", "search", "shell", "tap", "wait"];
    match act {
        Act::Call(tool, what, says) => {
            let (arguments, result) = (telling.arguments(what), telling.result(says));
            governed.round(TOOLS[usize::from(tool)], &arguments, result);
        }
        Act::Talk(0) => drop(governed.turn("???", &[])),
        Act::Talk(words) => drop(governed.turn(&format!("words {words}"), &[])),
        Act::Fault => drop(governed.fault(FaultClass::Unavailable)),
        Act::Person => governed.person(),
        Act::Phase => drop(governed.turn("next phase", &[])),
    }
}

/// Plays a whole run and returns everything that was ruled.
fn ruled(acts: &[Act], mut telling: Wording) -> Vec<(Seq, Verdict)> {
    let chart = chart(RULES);
    let mut governed = GovernedRun::new(&chart);
    for act in acts {
        play(&mut governed, *act, &mut telling);
    }
    governed.ruled
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 96,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn verdicts_are_the_same_on_replay_and_after_a_restart(acts in acts(16), at in 0..60_usize) {
        let chart = chart(RULES);
        let (mut whole, mut broken) = (GovernedRun::new(&chart), GovernedRun::new(&chart));
        let mut tellings = [Wording::default(); 2];
        for (place, act) in acts.iter().enumerate() {
            play(&mut whole, *act, &mut tellings[0]);
            if place == at {
                broken.restart();
            }
            play(&mut broken, *act, &mut tellings[1]);
        }
        prop_assert_eq!(&whole.ruled, &broken.ruled);
        // A line holds the digest of its verdicts.
        prop_assert_eq!(&whole.lines, &broken.lines);
        whole.replays();
    }

    #[test]
    fn key_order_ids_and_masked_parts_never_count(acts in acts(16), seed in any::<u64>()) {
        prop_assert_eq!(ruled(&acts, Wording::default()), ruled(&acts, Wording { seed }));
    }

    #[test]
    fn nothing_that_a_model_or_a_tool_writes_can_break_a_step(
        arguments in "\\PC{0,40}|[\\x00-\\x7f]{0,40}|[{}\\[\\]\",:\\\\0-9a-z ]{0,60}",
        output in "\\PC{0,80}|[\\x00-\\xff]{0,80}|[0-9a-fx:.TZ-]{0,60}",
    ) {
        let quoted = serde_json::to_string(&arguments).unwrap();
        let mut written = vec![format!(r#"{{"path":{quoted},"q":{quoted},{quoted}:[{quoted}]}}"#)];
        // Now and then it is JSON as it stands.
        written.extend(serde_json::from_str::<serde_json::Value>(&arguments).map(|_| arguments).ok());
        written.push(quoted);
        let chart = chart(RULES);
        let mut governed = GovernedRun::new(&chart);
        for arguments in &written {
            for tool in ["read", "search", "edit", "unheard of"] {
                governed.round(tool, arguments, ok(&output));
                governed.round(tool, arguments, no(&output));
                governed.turn(&output, &[]);
            }
        }
        governed.replays();
    }
}

#[test]
fn random_runs_reach_every_rule() {
    use proptest::{strategy::ValueTree, test_runner::TestRunner};

    let mut runner = TestRunner::deterministic();
    let mut rules: Vec<String> = Vec::new();
    for _ in 0..200 {
        let acts = acts(16).new_tree(&mut runner).unwrap().current();
        rules.extend(ruled(&acts, Wording::default()).iter().map(|it| format!("{:?}", it.1.rule)));
    }
    rules.sort();
    rules.dedup();
    assert_eq!(rules.len(), 11, "{rules:?}");
}

#[test]
fn the_memory_is_bounded() {
    let chart = chart(RULES);
    let mut governed = GovernedRun::new(&chart);
    let size = |governed: &GovernedRun<'_>| {
        serde_json::to_vec(&governed.recorder.run().core.governor).unwrap().len()
    };
    let mut sizes = Vec::new();
    for round in 0..10_000_u64 {
        let arguments = format!(r#"{{"path":"{}","n":{round}}}"#, round % 90);
        let tool = ["read", "edit", "shell", "search"][usize::try_from(round % 4).unwrap()];
        let result = if round % 5 == 0 { no(&format!("error {round}")) } else { ok("fine") };
        governed.round(tool, &arguments, result);
        if round % 3 == 0 {
            // A loop now and then, so that there is something to be warned of.
            for _ in 0..4 {
                governed.round("read", &format!(r#"{{"path":"loop {round}"}}"#), ok("x"));
            }
            governed.turn(&format!("words {round}"), &[]);
        }
        governed.lines.clear();
        governed.ruled.clear();
        if round % 1_000 == 999 {
            sizes.push(size(&governed));
        }
    }
    assert!(sizes.iter().all(|size| *size < 16 * 1024), "{sizes:?}");
}

#[test]
fn hostile_calls_and_results() {
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(5_000), close.repeat(5_000));
    let long = "x".repeat(1 << 20);
    let arguments = [
        "{}".to_owned(),
        "null".to_owned(),
        "\"\"".to_owned(),
        deep("[", "]"),
        deep(r#"{"path":"#, "}"),
        format!(r#"{{"path":{}}}"#, deep("[", "]")),
        format!(r#"{{"path":"{long}"}}"#),
        r#"{"path":"\u0000\u0000","q":"\ud83d\ude00"}"#.to_owned(),
        r#"{"path":"{\"path\":\"]}}\\","q":"[[[[{{{{"}"#.to_owned(),
        "{\"path\":\"😀\",\"q\":\"ﷺ ẞ İ\",\"\":0,\"\":1}".to_owned(),
        format!("[{}]", "1e999,".repeat(2_000) + "-0"),
    ];
    let outputs = [
        String::new(),
        long,
        "\0".repeat(1 << 20),
        "😀".repeat(20_000),
        "0".repeat(1 << 20),
        "10:00:00 ".repeat(100_000),
        "-:.T".repeat(100_000),
        deep("[{\"", "\"}]"),
    ];
    let chart = chart(RULES);
    let mut governed = GovernedRun::new(&chart);
    for arguments in &arguments {
        for output in &outputs {
            for tool in ["read", "search", "😀"] {
                governed.turn("", &[(tool, arguments)]);
                if governed.state() == "acting" {
                    governed.answer(Answer::Tool(no(output)));
                }
            }
        }
        governed.turn(arguments, &[]);
        governed.lines.clear();
    }
}
