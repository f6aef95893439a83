//! Work that looks like a loop, with every rule named: nothing must be said.

use pointsman_kernel::{
    agent::{Answer, FaultClass},
    chart::Chart,
    event::Event,
};

use super::governed::{GovernedRun, changed, chart, no, ok, parallel};

/// Every rule, as strict as any seed has it.
const ALL: &str = "identical_call = 3\nidentical_query = 2\nsame_error = 3\nfailing_tool = 4\n\
                   oscillation = 4\nno_progress = 10\nsteps_in_state = 5\nduplicate_message = 5\n\
                   monologue = 3\nunparsable = 3";

fn strict() -> Chart {
    chart(ALL)
}

#[test]
fn a_thousand_edits_over_ten_phases() {
    let chart = strict();
    let mut governed = GovernedRun::new(&chart);
    for edit in 0..1_000 {
        let arguments = format!(r#"{{"path":"src/{}.rs","line":{edit},"text":"x"}}"#, edit % 7);
        governed.quiet("edit", &arguments, changed("the file was edited"));
        if edit % 100 == 99 {
            assert!(governed.turn("next phase", &[]).is_empty());
        }
    }
    governed.turn("done", &[]);
    assert!(governed.ruled.is_empty());
    governed.replays();
}

#[test]
fn paging() {
    let chart = strict();
    let mut governed = GovernedRun::new(&chart);
    for page in 0..200 {
        // By argument, by the same call that moves on, and by query.
        governed.quiet("read", &format!(r#"{{"path":"log","page":{page}}}"#), ok("a page"));
        governed.quiet("shell", r#"{"command":"next"}"#, ok(&format!("line {page}")));
        governed.quiet("search", &format!(r#"{{"q":"error","from":{page}}}"#), ok("a hit"));
    }
    for page in 200..400 {
        governed.quiet("shell", r#"{"command":"next"}"#, ok(&format!("line {page}")));
    }
}

#[test]
fn polling() {
    let chart = strict();
    let mut governed = GovernedRun::new(&chart);
    for round in 0..200 {
        governed.quiet("wait", r#"{"job":7}"#, ok(&format!("{round} %")));
    }
    for _ in 0..200 {
        governed.quiet("wait", r#"{"job":7}"#, ok("running"));
    }
    // A read that moves is as good as a poll.
    for round in 0..200 {
        governed.quiet("read", r#"{"path":"progress"}"#, ok(&format!("{round} %")));
    }
}

#[test]
fn acknowledgements_that_never_change() {
    let chart = strict();
    let mut governed = GovernedRun::new(&chart);
    for _ in 0..200 {
        governed.quiet("tap", r#"{"key":"down"}"#, ok("done"));
    }
}

#[test]
fn the_same_command_over_many_files() {
    let chart = strict();
    let mut governed = GovernedRun::new(&chart);
    for file in 0..200 {
        governed.quiet("shell", &format!(r#"{{"command":"fmt {file}.rs"}}"#), changed(""));
        governed.quiet("fetch", &format!(r#"{{"url":"{file}"}}"#), ok("stored"));
    }
    let chart = parallel(ALL);
    let mut governed = GovernedRun::new(&chart);
    for turn in 0..50 {
        let calls: Vec<_> = (0..8).map(|file| format!(r#"{{"path":"{turn}/{file}"}}"#)).collect();
        let calls: Vec<_> = calls.iter().map(|arguments| ("read", &**arguments)).collect();
        assert!(governed.turn("all of them", &calls).is_empty());
        while governed.state() == "acting" {
            assert!(governed.answer(Answer::Tool(ok("same licence"))).is_empty());
        }
    }
}

#[test]
fn editing_and_testing_while_the_failures_change() {
    let chart = strict();
    let mut governed = GovernedRun::new(&chart);
    for round in 0..100 {
        let edit = format!(r#"{{"path":"a","text":"{round}"}}"#);
        governed.quiet("edit", &edit, changed("edited"));
        governed.quiet("shell", r#"{"command":"test"}"#, no(&format!("{} failed", 100 - round)));
    }
}

#[test]
fn editing_and_testing_while_the_failure_stays() {
    // Three times the same error is what `same_error` is there to find, whatever was
    // done in between; everything else is silent.
    let chart = chart(&ALL.replace("same_error = 3\n", ""));
    let mut governed = GovernedRun::new(&chart);
    for round in 0..100 {
        let edit = format!(r#"{{"path":"a","text":"{round}"}}"#);
        governed.quiet("edit", &edit, changed("edited"));
        governed.quiet("shell", r#"{"command":"test"}"#, no("3 failed"));
    }
}

#[test]
fn reading_again_after_a_change() {
    let chart = strict();
    let mut governed = GovernedRun::new(&chart);
    for round in 0..50 {
        governed.quiet("read", r#"{"path":"a"}"#, ok(&format!("version {round}")));
        governed.quiet("search", r#"{"q":"callers"}"#, ok("two"));
        governed.quiet("shell", r#"{"command":"test"}"#, ok("all passed"));
        governed.quiet("edit", &format!(r#"{{"path":"a","text":"{round}"}}"#), changed("edited"));
    }
}

#[test]
fn looking_everything_over_after_each_change() {
    let chart = strict();
    let mut governed = GovernedRun::new(&chart);
    for round in 0..20 {
        governed.quiet("edit", &format!(r#"{{"path":"a","text":"{round}"}}"#), changed("edited"));
        for file in 0..12 {
            governed.quiet("read", &format!(r#"{{"path":"{file}"}}"#), ok("as before"));
        }
    }
}

#[test]
fn faults_of_the_infrastructure() {
    let chart = strict();
    let mut governed = GovernedRun::new(&chart);
    for class in [
        FaultClass::Timeout,
        FaultClass::RateLimited,
        FaultClass::Unavailable,
        FaultClass::Forbidden,
        FaultClass::Invalid,
        FaultClass::Gone,
        FaultClass::Resource,
        FaultClass::Limit,
        FaultClass::Other,
    ] {
        for _ in 0..20 {
            assert!(governed.fault(class).is_empty(), "of the model: {class:?}");
        }
        for _ in 0..20 {
            let verdicts = governed.turn("", &[("search", r#"{"q":"the same"}"#)]);
            assert!(verdicts.is_empty(), "{class:?}: {verdicts:?}");
            assert!(governed.fault(class).is_empty(), "of the tool: {class:?}");
        }
    }
    for _ in 0..20 {
        // No answer at all.
        governed.turn("", &[("search", r#"{"q":"the same"}"#)]);
        governed.now = governed.recorder.run().core.wake.unwrap().0;
        assert!(governed.record(Event::Woke).is_empty());
    }
    governed.replays();
}

#[test]
fn faults_between_attempts_of_the_same_call() {
    let text = "identical_call = 2\nidentical_query = 2\nsteps_in_state = 2";
    let chart = super::governed::patient(text);
    let mut governed = GovernedRun::new(&chart);
    assert!(governed.turn("", &[("search", r#"{"q":"x"}"#)]).is_empty());
    for _ in 0..8 {
        let verdicts = governed.fault(FaultClass::Unavailable);
        assert!(verdicts.is_empty(), "{verdicts:?}");
        governed.now = governed.recorder.run().core.wake.unwrap().0;
        assert!(governed.record(Event::Woke).is_empty());
        assert_eq!(governed.state(), "acting");
    }
    assert!(governed.answer(Answer::Tool(ok("found"))).is_empty());
    // Calls without effect were not counted; the others were.
    assert!(!governed.turn("", &[("search", r#"{"q":"x"}"#)]).is_empty());
    governed.replays();
}

#[test]
fn a_person_between() {
    let chart = strict();
    let mut governed = GovernedRun::new(&chart);
    for _ in 0..50 {
        governed.quiet("read", r#"{"path":"a"}"#, ok("x"));
        governed.quiet("read", r#"{"path":"a"}"#, ok("x"));
        governed.quiet("shell", r#"{"command":"test"}"#, no("3 failed"));
        governed.quiet("shell", r#"{"command":"test"}"#, no("3 failed"));
        governed.person();
    }
}

#[test]
fn a_new_phase_between() {
    let chart = strict();
    let mut governed = GovernedRun::new(&chart);
    for _ in 0..50 {
        governed.quiet("read", r#"{"path":"a"}"#, ok("x"));
        governed.quiet("read", r#"{"path":"a"}"#, ok("x"));
        assert!(governed.turn("next phase", &[]).is_empty());
    }
}
