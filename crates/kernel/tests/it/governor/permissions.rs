//! Permissions: which rule decides, for how long, and what a person's answer binds.

use pointsman_kernel::{
    Rejected, StepResult,
    agent::Answer,
    effect::StepOutput,
    event::{Event, Observed},
    governor::{
        Grant,
        Level::{self, Allow, Ask, Refuse},
        Permissions, Rule, identity,
    },
    id::{At, Digest},
    run::Run,
    step,
};

use super::{
    governed::{GovernedRun, assert_ruled, call, chart, ok, parallel, said},
    tool_caller::ToolCaller,
};

pub(super) fn rule(tool: &str, arguments: &[(&str, &str)], level: Level) -> Grant {
    let arguments = arguments.iter().map(|(name, pattern)| ((*name).into(), (*pattern).into()));
    Grant { tool: tool.into(), arguments: arguments.collect(), level, until: None }
}

pub(super) fn may(otherwise: Level, rules: Vec<Grant>) -> Permissions {
    Permissions { otherwise, rules, attended: true }
}

/// Returns what the permissions say to a call in a run's first round.
pub(super) fn judged(permissions: &Permissions, tool: &str, arguments: &str) -> Level {
    let chart = chart("");
    let mut governed = GovernedRun::with(&chart, permissions.clone());
    let verdicts = governed.turn("", &[(tool, arguments)]);
    let level = verdicts.first().map_or(Allow, |verdict| verdict.level);
    for verdict in &verdicts {
        assert!(!verdict.reason.is_empty() && !verdict.advice.is_empty());
    }
    let state = if level == Refuse { "thinking" } else { "acting" };
    assert_eq!((verdicts.len() <= 1, governed.state()), (true, state));
    assert_eq!(
        (governed.working().is_some(), governed.asking().is_some()),
        (level != Ask, level == Ask)
    );
    governed.replays();
    level
}

#[test]
fn the_first_rule_that_fits_decides() {
    let rules = vec![
        rule("shell", &[("command", "cargo publish*")], Refuse),
        rule("shell", &[("command", "cargo *")], Allow),
        rule("shell", &[], Ask),
        rule("*", &[("path", "secret/*")], Refuse),
        rule("read", &[], Allow),
        rule("read", &[], Refuse),
    ];
    let permissions = may(Refuse, rules);
    for (tool, arguments, level) in [
        ("shell", r#"{"command":"cargo publish --all"}"#, Refuse),
        ("shell", r#"{"command":"cargo test"}"#, Allow),
        ("shell", r#"{"command":"rm -r src"}"#, Ask),
        ("shell", "{}", Ask),
        ("read", r#"{"path":"src/lib.rs"}"#, Allow),
        ("read", r#"{"path":"secret/key"}"#, Refuse),
        ("edit", r#"{"path":"src/lib.rs"}"#, Refuse),
    ] {
        assert_eq!(judged(&permissions, tool, arguments), level, "{tool} {arguments}");
    }
}

#[test]
fn argument_patterns() {
    let rules = vec![rule("read", &[("path", "src/*.rs"), ("mode", "*")], Allow)];
    let permissions = may(Refuse, rules);
    for (arguments, level) in [
        (r#"{"path":"src/a/b.rs","mode":"text"}"#, Allow),
        (r#"{ "mode" : {"any":["thing"]}, "path" : "src/.rs" }"#, Allow),
        (r#"{"path":"src/a.rs"}"#, Refuse),
        (r#"{"path":"src/a.rs.bak","mode":1}"#, Refuse),
        (r#"{"path":["src/a.rs"],"mode":1}"#, Refuse),
        (r#"{"path":7,"mode":1}"#, Refuse),
        (r#"{"nested":{"path":"src/a.rs"},"mode":1}"#, Refuse),
        (r#"{"path":"src/a.rs","path":"/etc/shadow","mode":1}"#, Refuse),
        (r#"["src/a.rs"]"#, Refuse),
        (r#""src/a.rs""#, Refuse),
        // Text with escapes is not allowed unread.
        (r#"{"path":"src/\u0061.rs","mode":1}"#, Refuse),
    ] {
        assert_eq!(judged(&permissions, "read", arguments), level, "{arguments}");
    }
}

#[test]
fn no_notation_bypasses_a_rule_that_refuses_or_asks() {
    for level in [Refuse, Ask] {
        let rules = vec![rule("shell", &[("command", "rm *")], level)];
        let permissions = may(Allow, rules);
        for arguments in [
            r#"{"command":"rm -r /"}"#,
            r#"{"command":"rm -r /\n"}"#,
            r#"{"command":"rm -r \"/\""}"#,
            r#"{"command":"\u0072m -r /"}"#,
            r#"{"command":"rm \/"}"#,
            r#"{"comman\u0064":"rm -r /"}"#,
            r#"{"command":"ls","comman\u0064":"rm -r /"}"#,
        ] {
            assert_eq!(judged(&permissions, "shell", arguments), level, "{arguments}");
        }
        for arguments in [r#"{"command":"ls"}"#, r#"{"command":"ls\n"}"#, "{}"] {
            assert_eq!(judged(&permissions, "shell", arguments), Allow, "{arguments}");
        }
    }
}

#[test]
fn a_pattern_lets_no_second_command_through() {
    let permissions = may(
        Ask,
        vec![
            rule("shell", &[("command", "rm *")], Refuse),
            rule("shell", &[("command", "cargo test *")], Allow),
            rule("shell", &[("command", "cargo doc * | tail")], Allow),
            rule("shell", &[("command", "cat a > b")], Allow),
            rule("edit", &[("path", "a/*")], Allow),
        ],
    );
    for (command, level) in [
        ("cargo test --lib", Allow),
        ("cargo test; rm -r src", Ask),
        ("cargo test && curl x", Ask),
        ("cargo test a & curl x", Ask),
        ("cargo test a | sh", Ask),
        ("cargo test a > src/lib.rs", Ask),
        ("cargo test $(curl x)", Ask),
        ("cargo test `curl x`", Ask),
        ("cargo doc --open | tail", Allow),
        ("cargo doc | sh | tail", Ask),
        ("cat a > b", Allow),
        ("rm -r src; true", Refuse),
    ] {
        let arguments = format!(r#"{{"command":"{command}"}}"#);
        assert_eq!(judged(&permissions, "shell", &arguments), level, "{command}");
    }
    assert_eq!(judged(&permissions, "edit", r#"{"path":"a/b (1).txt"}"#), Allow, "no command");
}

/// Ways to have more run than a pattern says, or something else.
const TRICKS: [&str; 40] = [
    "echo hi\ntouch x",
    "echo hi\r\ntouch x",
    "echo hi #\ntouch x",
    "echo hi \\\n touch x",
    "echo <<E\n$(touch x)\nE",
    "echo $(touch x)",
    "echo \"$(touch x)\"",
    "echo `touch x`",
    "echo ${x:=`touch x`}",
    "echo $((x=$(touch x)))",
    "echo hi > x",
    "echo hi >> x",
    "echo hi >| x",
    "echo hi 2>x",
    "echo hi &>x",
    "echo hi <a",
    "echo hi <<<a",
    "echo hi <(touch x)",
    "echo hi >(touch x)",
    "echo hi && touch x",
    "echo hi &touch x",
    "echo hi &",
    "echo hi ||touch x",
    "echo hi; touch x",
    "echo hi;touch x",
    "echo \"hi\"; touch x",
    "echo hi\\; touch x",
    "echo hi | tee x",
    "echo hi |& tee x",
    "function echo { touch x; }; echo hi",
    "echo () { touch x; }",
    "X=1 echo hi",
    "LD_PRELOAD=./x echo hi",
    " echo hi",
    "eval echo hi",
    "/bin/echo hi",
    "./echo hi",
    "echo",
    "echo\thi",
    "echo\u{a0}hi",
];

#[test]
fn no_trick_of_forty_gets_past_a_pattern() {
    let rules = vec![rule("shell", &[("command", "echo *")], Allow)];
    let permissions = may(Ask, rules);
    let level = |command: &str| {
        let arguments = serde_json::json!({ "command": command }).to_string();
        judged(&permissions, "shell", &arguments)
    };
    for command in TRICKS {
        assert_eq!(level(command), Ask, "{command:?}");
    }
    for command in ["echo hi", "echo 'a b'", "echo {a,b} ~root *", "echo !!", "echo hi\u{2028}x"] {
        assert_eq!(level(command), Allow, "{command:?}");
    }
}

#[test]
fn a_rule_holds_until_its_time_and_no_longer() {
    let until = Some(At(1_000));
    let permissions = may(Refuse, vec![Grant { until, ..rule("read", &[], Allow) }]);
    let chart = chart("");
    for (now, level) in [(0, Allow), (999, Allow), (1_000, Refuse), (1_001, Refuse)] {
        let mut governed = GovernedRun::with(&chart, permissions.clone());
        governed.now = now;
        let verdicts = governed.turn("", &[("read", r#"{"path":"a"}"#)]);
        assert_eq!(verdicts.first().map_or(Allow, |verdict| verdict.level), level, "at {now} ms");
    }
}

#[test]
fn unattended_ask_means_refuse() {
    let unattended = Permissions { attended: false, ..Permissions::ask_all() };
    let chart = chart("");
    let mut governed = GovernedRun::with(&chart, unattended.clone());
    let verdicts = governed.turn("", &[("read", r#"{"path":"a"}"#)]);
    assert_ruled(&verdicts, Refuse, Rule::Unattended, &[]);
    let rules = vec![rule("read", &[], Allow), rule("edit", &[], Ask)];
    let permissions = Permissions { rules, ..unattended };
    assert_eq!(judged(&permissions, "read", "{}"), Allow);
    assert_eq!(judged(&permissions, "edit", "{}"), Refuse);
}

#[test]
fn the_default_refuses_everything() {
    for tool in ["edit", "fetch", "read", "search", "shell", "tap", "wait"] {
        assert_eq!(judged(&Permissions::default(), tool, "{}"), Refuse);
    }
}

#[test]
fn a_yes_is_to_one_call_and_to_no_other() {
    let chart = chart("");
    let mut governed = GovernedRun::with(&chart, Permissions::ask_all());
    let asked = [("edit", r#"{"path":"a","text":"x"}"#)];
    assert_ruled(&governed.turn("", &asked), Ask, Rule::Permission, &[]);
    let (effect, digest) = governed.asking().unwrap();
    assert_eq!(digest, identity(&call("any id", asked[0].0, asked[0].1)));
    for other in [
        Digest::default(),
        identity(&call("id-1", "edit", r#"{"path":"b","text":"x"}"#)),
        identity(&call("id-1", "edit", r#"{"text":"x","path":"a"}"#)),
        identity(&call("id-1", "edit ", asked[0].1)),
    ] {
        let event = Event::ApprovalAnswered {
            effect,
            call: other,
            granted: true,
            reason: String::new(),
            remember: Some(rule("*", &[], Allow)),
            sent: None,
        };
        let mut run: Run<ToolCaller> = serde_json::from_str(&governed.snapshot()).unwrap();
        let mut out = StepOutput::default();
        let seen = Observed { at: At(0), event };
        let took = step(&chart, &mut run, governed.recorder.run().core.next, seen, &mut out);
        assert_eq!(took, Err(Rejected::WrongAnswer(effect)));
        assert_eq!(serde_json::to_string(&run).unwrap(), governed.snapshot());
    }
    // The right answer starts the call, once; a like one is asked for again.
    assert!(governed.decide(true, None).is_empty() && governed.working().is_some());
    assert!(governed.answer(Answer::Tool(ok("done"))).is_empty());
    assert_ruled(&governed.turn("", &asked), Ask, Rule::Permission, &[]);
    governed.replays();
}

#[test]
fn an_answer_that_comes_twice_changes_nothing() {
    let chart = chart("");
    let mut governed = GovernedRun::with(&chart, Permissions::ask_all());
    governed.turn("", &[("edit", "{}")]);
    let (effect, call) = governed.asking().unwrap();
    governed.decide(true, None);
    let reason = String::new();
    let (granted, remember, sent) = (false, None, None);
    let event = Event::ApprovalAnswered { effect, call, granted, reason, remember, sent };
    let mut run: Run<ToolCaller> = serde_json::from_str(&governed.snapshot()).unwrap();
    let seen = Observed { at: At(0), event };
    let took =
        step(&chart, &mut run, governed.recorder.run().core.next, seen, &mut StepOutput::default());
    assert!(matches!(took, Ok(StepResult::Ignored(_))), "{took:?}");
    assert_eq!(serde_json::to_string(&run).unwrap(), governed.snapshot());
}

#[test]
fn remembered_answer_applies_to_similar_calls_until_expiry() {
    let chart = chart("");
    for (level, granted) in [(Allow, true), (Refuse, false)] {
        let mut governed = GovernedRun::with(&chart, may(Ask, vec![rule("edit", &[], Ask)]));
        let edit = |path: &str| format!(r#"{{"path":"{path}"}}"#);
        governed.turn("", &[("edit", &edit("src/a"))]);
        let until = Some(At(5_000));
        let like = Grant { until, ..rule("edit", &[("path", "src/*")], level) };
        governed.decide(granted, Some(like));
        if granted {
            governed.answer(Answer::Tool(ok("done")));
        } else {
            assert!(governed.data().forgone[0].1.starts_with("denied"), "{:?}", governed.data());
        }
        governed.now = 4_999;
        let verdicts = governed.turn("", &[("edit", &edit("src/b"))]);
        if granted {
            assert!(verdicts.is_empty() && governed.answer(Answer::Tool(ok("done"))).is_empty());
        } else {
            assert_ruled(&verdicts, Refuse, Rule::Permission, &[]);
        }
        // Another place, and another time.
        assert_eq!(
            said(&governed.turn("", &[("edit", &edit("docs/b"))])),
            [(Ask, Rule::Permission)]
        );
        governed.decide(false, None);
        governed.now = 5_000;
        assert_eq!(
            said(&governed.turn("", &[("edit", &edit("src/c"))])),
            [(Ask, Rule::Permission)]
        );
        governed.replays();
    }
}

#[test]
fn a_later_answer_takes_the_place_of_an_earlier_one() {
    let chart = chart("");
    let mut governed = GovernedRun::with(&chart, Permissions::ask_all());
    governed.turn("", &[("edit", "{}")]);
    governed.decide(true, Some(Grant { until: Some(At(10)), ..rule("edit", &[], Allow) }));
    governed.answer(Answer::Tool(ok("done")));
    governed.now = 10;
    governed.turn("", &[("edit", r#"{"n":1}"#)]);
    governed.decide(true, Some(rule("edit", &[], Refuse)));
    governed.answer(Answer::Tool(ok("done")));
    let verdicts = governed.turn("", &[("edit", r#"{"n":2}"#)]);
    assert_ruled(&verdicts, Refuse, Rule::Permission, &[]);
    assert_eq!(governed.recorder.run().core.governor.permissions.rules.len(), 1);
}

#[test]
fn an_answer_that_is_remembered_opens_nothing_that_is_refused() {
    let chart = chart("");
    let rules = vec![rule("edit", &[("path", "*.lock")], Refuse), rule("edit", &[], Ask)];
    let mut governed = GovernedRun::with(&chart, may(Ask, rules));
    let edit = |path: &str| format!(r#"{{"path":"{path}"}}"#);
    governed.turn("", &[("edit", &edit("src/a"))]);
    governed.decide(true, Some(rule("edit", &[("path", "src/*")], Allow)));
    governed.answer(Answer::Tool(ok("done")));
    let verdicts = governed.turn("", &[("edit", &edit("src/a.lock"))]);
    assert_ruled(&verdicts, Refuse, Rule::Permission, &[]);
    assert!(governed.turn("", &[("edit", &edit("src/b"))]).is_empty());
    governed.replays();
}

#[test]
fn a_refused_call_in_a_fan_out_is_an_items_result() {
    let chart = parallel("");
    let mut governed = GovernedRun::with(&chart, may(Allow, vec![rule("edit", &[], Refuse)]));
    let verdicts = governed.turn("", &[("read", "{}"), ("edit", "{}"), ("search", "{}")]);
    assert_ruled(&verdicts, Refuse, Rule::Permission, &[]);
    assert_eq!(governed.state(), "acting");
    governed.answer(Answer::Tool(ok("one")));
    assert_eq!(governed.state(), "acting");
    governed.answer(Answer::Tool(ok("two")));
    let data = governed.data();
    assert_eq!((governed.state(), data.settled, data.forgone.len()), ("thinking", 2, 1));
    assert_eq!(data.forgone[0].0, 1);
    assert!(data.forgone[0].1.starts_with("denied"), "{data:?}");
    governed.replays();
}

#[test]
fn a_refused_call_alone_leaves_its_state_as_denied() {
    let chart = chart("");
    let mut governed = GovernedRun::with(&chart, may(Allow, vec![rule("edit", &[], Refuse)]));
    governed.turn("", &[("edit", "{}")]);
    let hops = &governed.recorder.out().hops;
    let acting = chart.states().iter().find(|state| state.name() == "acting").unwrap();
    let by = pointsman_kernel::effect::Cause::Outcome(acting.kernel_outcomes().denied.unwrap());
    assert_eq!(hops.last().map(|hop| hop.by), Some(by));
    assert_eq!(governed.working().map(|effect| effect.seq), Some(pointsman_kernel::id::Seq(2)));
}

#[test]
fn tool_is_offered_if_some_call_runs_without_asking() {
    let rules = vec![
        rule("shell", &[("command", "cargo *")], Allow),
        rule("shell", &[], Refuse),
        rule("git", &[], Ask),
        rule("git", &[("args", "status")], Allow),
        rule("http*", &[("url", "http://127.*")], Refuse),
        rule("http_get", &[], Allow),
    ];
    let permissions = may(Refuse, rules);
    for (tool, worth) in [("shell", true), ("git", false), ("http_get", true), ("write", false)] {
        assert_eq!(permissions.allows_some_call(tool), worth, "{tool}");
    }
    assert!(may(Allow, Vec::new()).allows_some_call("write"));
    assert!(!may(Ask, Vec::new()).allows_some_call("write"));
}
