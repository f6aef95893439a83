//! Conversations without a terminal: messages in, answers out; and plans.

use insta::assert_snapshot;
use serde_json::Value;

use crate::home::Home;

const MODEL: [&str; 3] = ["chat", "--model", "script:script.toml"];
const LINES: [&str; 4] = ["chat", "--lines", "--model", "script:script.toml"];

fn told(home: &Home, input: &str, arguments: &[&str]) -> String {
    let shown = home.reading(input, arguments);
    let code = shown.code.expect("the process exited by itself");
    home.redacted(&format!("exit {code}\n--- stdout\n{}--- stderr\n{}", shown.out, shown.err))
}

#[test]
fn lines_are_messages_and_answers_are_printed() {
    let home = Home::new("piped");
    home.write(
        "script.toml",
        "[[turn]]\ntext = 'I look.'\n\
         calls = [{ tool = 'read', arguments = { path = 'docs/signals.md' } }]\n\
         [[turn]]\ntext = 'Red means stop.'\n[[turn]]\ntext = 'Green means go.'\n",
    );
    assert_snapshot!("piped", told(&home, "What is red?\n\nAnd green?\n", &LINES));
    // How wide the columns are depends on the folder's name.
    let list = told(&home, "", &["chat", "--list"]);
    let narrow = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_snapshot!("piped_list", list.lines().map(narrow).collect::<Vec<_>>().join("\n"));
    assert_eq!(home.pointsman(&["replay", "last"]).0, 0);
    // A closed conversation continues in a new run.
    home.write("script.toml", "[[turn]]\ntext = 'Yellow means slow.'\n");
    let more = [&MODEL[..], &["--resume"]].concat();
    assert_snapshot!("piped_resumed", told(&home, "And yellow?\n", &more));
}

#[test]
fn without_a_model_it_searches_and_says_so() {
    let home = Home::new("piped-quote");
    assert_snapshot!(
        "piped_quote",
        told(&home, "Who sets the points?\n", &["chat", "--dir", "docs"])
    );
}

#[test]
fn json_tells_the_same_as_a_run() {
    let home = Home::new("piped-json");
    home.write("script.toml", "[[turn]]\ntext = 'Hello.'\n");
    let shown = home.reading("Hi\n", &[&MODEL[..], &["--json"]].concat());
    assert_eq!((shown.code, shown.err.as_str()), (Some(0), ""), "{}", shown.out);
    let lines: Vec<Value> = shown
        .out
        .lines()
        .map(|line| serde_json::from_str(line).expect("the text is valid JSON"))
        .collect();
    let (last, before) = lines.split_last().expect("the journal has lines");
    assert_eq!((&last["disposition"], &last["result"]), (&"succeeded".into(), &"Hello.".into()));
    let events: Vec<&str> = before.iter().filter_map(|line| line["event"].as_str()).collect();
    for event in ["state", "attempt", "answer", "listens", "persisted", "ended"] {
        assert!(events.contains(&event), "{events:?}");
    }
}

#[test]
fn a_question_waits_for_a_person_and_so_does_the_rest() {
    let home = Home::new("piped-asks");
    home.write(
        "script.toml",
        "[[turn]]\ncalls = [{ tool = 'write', arguments = { path = 'a.txt', content = 'x' } }]\n\
         [[turn]]\ntext = 'Done.'\n[[turn]]\ntext = 'More.'\n",
    );
    assert_snapshot!("piped_asks", told(&home, "Write\nAnd more\n", &LINES));
    assert!(!home.path("a.txt").exists());
    // A client that joins and cannot answer leaves, and does not wait for one that can.
    let joined = home.reading("", &[&MODEL[..], &["--resume"]].concat());
    assert_eq!(joined.code, Some(3), "{}", joined.err);
    assert_eq!(home.pointsman(&["approve", "last"]).0, 0);
    home.write("script.toml", "[[turn]]\ntext = 'Done.'\n[[turn]]\ntext = 'More.'\n");
    let (code, out, err) = home.pointsman(&["resume", "last", "--model", "script:script.toml"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(home.path("a.txt").exists());
    assert!(out.contains("More."), "what was said before is answered: {out}{err}");
}

#[test]
fn a_question_that_was_open_before_ends_it_too() {
    let home = Home::new("piped-asked");
    let call = "[[turn]]\n\
                calls = [{ tool = 'write', arguments = { path = 'a.txt', content = 'x' } }]\n";
    home.write("script.toml", call);
    assert_eq!(home.reading("Write\n", &MODEL).code, Some(3));
    let more = [&MODEL[..], &["--resume"]].concat();
    let shown = home.reading("And more\n", &more);
    assert_eq!(shown.code, Some(3), "{}{}", shown.out, shown.err);
    let shown = home.reading("", &[&more[..], &["last", "And again"]].concat());
    assert_eq!(shown.code, Some(3), "{}{}", shown.out, shown.err);
    assert_eq!(home.pointsman(&["approve", "last"]).0, 0);
    let answers = "[[turn]]\ntext = 'Done.'\n[[turn]]\nwhen = 'And more'\ntext = 'More.'\n\
                   [[turn]]\nwhen = 'And again'\ntext = 'Again.'\n";
    home.write("script.toml", answers);
    let shown = home.reading("", &more);
    assert_eq!(
        (shown.code, shown.out.as_str()),
        (Some(0), "Done.\nMore.\nAgain.\n"),
        "{}",
        shown.err
    );
}

#[test]
fn summary_of_old_turns_is_not_an_answer() {
    let home = Home::new("piped-summary");
    let words = "word ".repeat(100);
    let turn = |turn: usize| format!("[[turn]]\ntext = 'Answer {turn} {words}'\n");
    let turns: Vec<String> = (1..=12).map(turn).collect();
    let end = "[[turn]]\nfault = { class = 'too_long', message = 'too long' }\n\
               [[turn]]\nwhen = 'write the summary'\ntext = 'They talked.'\n\
               [[turn]]\nwhen = 'question 13'\ntext = 'Answer 13'\n";
    home.write("script.toml", &(turns.concat() + end));
    let lines: Vec<String> = (1..=13).map(|turn| format!("question {turn}\n")).collect();
    let lines = lines.concat();
    let shown = home.reading(&lines, &LINES);
    assert_eq!(shown.code, Some(0), "{}{}", shown.out, shown.err);
    let answers: Vec<String> = shown
        .out
        .lines()
        .map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" "))
        .collect();
    let wanted: Vec<String> = (1..=13).map(|turn| format!("Answer {turn}")).collect();
    assert_eq!(answers, wanted, "{}", shown.err);
    assert!(shown.err.contains("summarised"), "it is told: {}", shown.err);
}

/// A plan of one phase, and a model that completes it.
const PHASE: &str = "[[turn]]\ncalls = [{ tool = 'phase_complete', arguments = { success = true } }]\n\
                     [[turn]]\ntext = 'All is told.'\n";

#[test]
fn finished_work_is_not_done_again_to_talk_about_it() {
    let home = Home::new("piped-again");
    home.write("plan.md", "1. Look\n");
    home.write("script.toml", PHASE);
    let run = ["run", "code", "Look", "--plan", "plan.md", "--model", "script:script.toml"];
    let (code, out, err) = home.pointsman(&run);
    assert_eq!(code, 0, "{out}{err}");
    let more =
        [&MODEL[..], &["--agent", "code", "--json", "--resume", "last", "and more"]].concat();
    let shown = home.reading("", &more);
    let lines: Vec<Value> = shown
        .out
        .lines()
        .map(|line| serde_json::from_str(line).expect("the text is valid JSON"))
        .collect();
    let find = |is: &dyn Fn(&Value) -> bool| lines.iter().position(is).unwrap_or(usize::MAX);
    let heard = find(&|line| line["event"] == "state" && line["reason"] == "prompt");
    let asked = find(&|line| line["event"] == "attempt");
    assert!(heard < asked && asked < usize::MAX, "{heard} {asked}\n{}", shown.out);
    let (_, out, _) = home.pointsman(&["show", "last", "--json"]);
    assert!(out.contains("and more"), "{out}");
    assert_eq!(home.pointsman(&["replay", "last"]).0, 0);
}

#[test]
fn failures_are_reported() {
    let home = Home::new("piped-wrong");
    home.write("script.toml", "[[turn]]\nfault = { class = 'forbidden', message = 'no key' }\n");
    assert_snapshot!("piped_fault", told(&home, "Hi\n", &MODEL));
    assert_snapshot!("piped_nothing", told(&home, "", &MODEL));
    let id = home.research("Who sets the points?");
    assert_snapshot!("no_talker", told(&home, "", &["chat", "--resume", &id]));
    assert_snapshot!("no_such_talk", told(&home, "", &["chat", "--resume", "nosuchrun"]));
    let empty = Home::new("piped-none");
    assert_snapshot!("no_talks", told(&empty, "", &["chat", "--resume"]));
    assert_snapshot!("no_talks_list", told(&empty, "", &["chat", "--list"]));
}

#[test]
fn plans_are_read_with_their_mistakes() {
    let home = Home::new("plans");
    home.write("plan.md", "# Plan\n\n1. Find it (10 min)\n3. Mend it\n");
    home.write("good.md", "# Plan\n\n1. Find it (10 min)\n2. Mend it\n");
    home.write("plan.toml", "[[phase]]\ndescription = \"Find it\"\n\n[[phase]]\nwhat = 1\n");
    let steps: Vec<String> = (1..=21).map(|n| format!("{n}. Step")).collect();
    home.write("long.md", &steps.join("\n"));
    let run = |plan: &str| home.shown(&["run", "code", "Mend it", "--plan", plan, "--dry-run"]);
    assert_snapshot!("plan_number", run("plan.md"));
    assert_snapshot!("plan_toml", run("plan.toml"));
    assert_snapshot!("plan_missing", run("nowhere.md"));
    assert_snapshot!("plan_long", run("long.md"));
    assert!(run("good.md").contains("  1. Find it (about 10 min)\n  2. Mend it\n"));
    assert_snapshot!("plan_agent", home.shown(&["run", "research", "x", "--plan", "plan.md"]));
}

#[test]
fn code_shows_its_phases_and_reports() {
    let home = Home::new("phases");
    home.write("plan.md", "1. Look\n2. Tell\n");
    home.write(
        "script.toml",
        "[[turn]]\ntext = 'I look.'\n\
         calls = [{ tool = 'read', arguments = { path = 'docs/signals.md' } }]\n\
         [[turn]]\ncalls = [{ tool = 'phase_complete', arguments = { success = true } }]\n\
         [[turn]]\ntext = 'Red means stop.'\n\
         calls = [{ tool = 'phase_complete', arguments = { success = true } }]\n\
         [[turn]]\ntext = 'All is told.'\n",
    );
    let run = ["run", "code", "Say what red means", "--plan", "plan.md"];
    assert_snapshot!(
        "code_phases",
        home.shown(&[&run[..], &["--model", "script:script.toml"]].concat())
    );
}
