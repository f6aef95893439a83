//! When a model is asked, what it is shown, and what its answers can do.

use alloc::{
    format,
    string::{String, ToString as _},
    vec,
    vec::Vec,
};

use pointsman_kernel::{agent::Order, prompt::PromptMessage};
use serde_json::{Value, json};

use super::{App, button, captured, config, looking, read, roomy, screen};
use crate::{
    explore::{Element, ExploreAgent, ExploreReport, ExploreTask, Policy},
    testing::{TestDriver, hostile_texts},
};

const SETUP: &[&str] = &["ensure_device", "provision_app", "launch_or_attach", "wait_idle"];
/// Two of three share a word with the goal, which is to open the settings.
const TIE: &[&str] = &["Help", "Sound settings", "Network settings"];

fn asked() -> TestDriver<ExploreAgent> {
    let mut driver = looking(config("goal_oriented", true));
    driver.report(captured(screen("home", TIE)));
    assert_eq!(driver.state(), "ask_model");
    driver
}

fn question(driver: &TestDriver<ExploreAgent>) -> String {
    let prompt = driver.prompt();
    assert!(prompt.system.contains("one number from the list"), "{}", prompt.system);
    let [PromptMessage::User(text)] = prompt.messages.as_slice() else {
        panic!("one message: {prompt:?}")
    };
    text.clone()
}

/// Returns the numbered lines of the question that the model is asked.
fn list(driver: &TestDriver<ExploreAgent>) -> Vec<String> {
    let text = question(driver);
    let numbered = text.lines().filter(|line| line.starts_with(|it: char| it.is_ascii_digit()));
    numbered.map(String::from).collect()
}

#[test]
fn model_gets_equal_candidates_as_the_numbered_list() {
    let driver = asked();
    let shown = list(&driver);
    let numbers = (1..).zip(&driver.run.data.candidates);
    let listed: Vec<String> = numbers.map(|(at, it)| format!("{at}. {}", it.described())).collect();
    assert_eq!(shown, listed);
    let expected = [
        "1. tap Button \"Sound settings\"",
        "2. tap Button \"Help\"",
        "3. tap Button \"Network settings\"",
        "4. back",
    ];
    assert_eq!(shown, expected);
    assert!(question(&driver).starts_with("Goal: open settings\n"));
}

#[test]
fn list_names_its_direction_and_unlabelled_rows() {
    let mut bare = button("");
    bare.resource = "fab".into();
    let feed = Element {
        class: "android.widget.ScrollView".into(),
        scrollable: true,
        clickable: false,
        ..button("")
    };
    let mut driver = looking(config("goal_oriented", true));
    driver.report(captured(read("home", vec![bare, button("Save"), feed])));
    let shown = list(&driver);
    for line in ["tap Button \"fab\"", "swipe up ScrollView", "swipe left ScrollView"] {
        assert!(shown.iter().any(|it| it.ends_with(line)), "{line} in {shown:?}");
    }
    let mut once = shown.clone();
    once.sort();
    once.dedup_by_key(|it| it.split_once(' ').map(|(_, rest)| rest.to_string()));
    assert_eq!(once.len(), shown.len(), "no two read the same: {shown:?}");
}

#[test]
fn a_clear_choice_is_not_put_to_the_model() {
    // One button shares a word with the goal.
    let mut driver = looking(config("goal_oriented", true));
    driver.report(captured(screen("home", &["Help", "Settings", "About"])));
    assert_eq!(driver.state(), "act");
    assert_eq!(driver.run.data.chosen().0.label, "Settings");
    // One is untried.
    let mut driver = looking(config("goal_oriented", true));
    driver.report(captured(screen("home", &["Help"])));
    assert_eq!(driver.state(), "act", "back comes after what the screen offers");
    // One promises more than the other; without a goal, nothing else is compared.
    let more = Element { class: "android.view.View".into(), clickable: false, ..button("More") };
    for policy in Policy::ALL.iter().filter(|it| **it != Policy::GoalOriented) {
        let config = json!({"app": {"package": "app"}, "policy": policy, "ask_model": true});
        let mut driver = looking(config);
        driver.report(captured(read("home", vec![button("Save"), more.clone()])));
        assert_eq!(driver.state(), "act", "{policy:?}");
    }
    // Equals, and no model.
    let mut driver = looking(config("goal_oriented", false));
    driver.report(captured(screen("home", TIE)));
    assert_eq!(driver.state(), "act");
}

#[test]
fn a_model_picks_from_the_list_and_nothing_else() {
    let mut route = None;
    let mut texts = hostile_texts(SETUP);
    texts.extend(["0", "5", "-1", "999999999999999999999", "tap"].map(String::from));
    for text in texts {
        let mut driver = asked();
        for attempt in 1..=3 {
            driver.say(&text);
            if attempt < 3 {
                driver.wake();
            }
        }
        assert_eq!(driver.state(), "act", "{text:?}");
        let chosen = driver.run.data.chosen().0.label;
        assert_eq!(chosen, "Sound settings", "the policy's choice stands");
        let states: Vec<String> = driver.states().into_iter().map(String::from).collect();
        assert_eq!(*route.get_or_insert_with(|| states.clone()), states);
    }
    for (text, label) in [("1", "Sound settings"), (" 3. ", "Network settings"), ("help", "Help")] {
        let mut driver = asked();
        driver.say(text);
        assert_eq!(driver.run.data.chosen().0.label, label);
        assert_eq!(driver.state(), "act");
    }
}

#[test]
fn permission_dialog_with_a_set_answer_is_not_shown_to_the_model() {
    let named = |name: &str, label: &str| Element { resource: name.into(), ..button(label) };
    let dialog = crate::explore::Screen::read(
        &crate::explore::Tree {
            elements: vec![
                named("permission_deny_button", "Deny settings"),
                named("permission_allow_button", "Allow settings"),
            ],
            ..Default::default()
        },
        "com.android.permissioncontroller",
        "",
    );
    for (says, state) in [("deny", "act"), ("explore", "ask_model")] {
        let config = json!({"app": {"package": "app"}, "goal": "settings",
            "policy": "goal_oriented", "ask_model": true, "permissions": says});
        let mut driver = looking(config);
        driver.report(captured(dialog.clone()));
        assert_eq!(driver.state(), state, "{says}");
    }
}

type Questions = Vec<(u32, String)>;

/// Plays an app and a model that always says the same, until the run ends. Returns for every
/// question the rounds without progress and the question, and all actions.
fn explored(
    config: Value,
    app: App<'_>,
    says: &str,
) -> (TestDriver<ExploreAgent>, Questions, Vec<String>) {
    let mut driver = TestDriver::<ExploreAgent>::new(&roomy(60), &[]);
    driver.begin(config);
    let (mut at, mut questions, mut actions) = (app[0].0, Vec::new(), Vec::new());
    while driver.ended().is_none() {
        if driver.running().is_empty() {
            driver.wake();
            continue;
        }
        let Order::Own { task, actions: count, .. } = driver.order().clone() else {
            questions.push((driver.run.data.stall, question(&driver)));
            driver.say(says);
            continue;
        };
        let buttons = app.iter().find(|(name, _)| *name == at).expect("app has the screen").1;
        let labels: Vec<&str> = buttons.iter().map(|(label, _)| *label).collect();
        if count > 0 {
            actions.push(format!("{at} {task:?}"));
        }
        driver.report(match task {
            ExploreTask::Session | ExploreTask::Settle => ExploreReport::Done,
            ExploreTask::Inspect(_) => ExploreReport::Installed(Some(1)),
            ExploreTask::Capture | ExploreTask::Verify => captured(screen(at, &labels)),
            ExploreTask::Perform { target, .. } => {
                let pressed = target.and_then(|it| usize::try_from(it.ordinal).ok());
                at = pressed.map_or(app[0].0, |pressed| buttons[pressed].1);
                ExploreReport::Performed { step: None }
            }
            ExploreTask::Wait => ExploreReport::Performed { step: None },
            _ => {
                at = app[0].0;
                ExploreReport::Performed { step: None }
            }
        });
    }
    (driver, questions, actions)
}

#[test]
fn a_stall_is_put_to_the_model_from_the_third_round_on() {
    let app: App<'_> = &[("home", &[("One", "home")])];
    let config = json!({"app": {"package": "app"}, "policy": "max_coverage", "exhaust": true,
        "ask_model": true});
    let (_, questions, _) = explored(config, app, "1");
    assert!(!questions.is_empty());
    for (stall, text) in questions {
        assert!(stall >= 3 && text.contains(&format!("Nothing new in {stall} rounds.")), "{text}");
    }
}

#[test]
fn useless_model_reply_equals_a_run_without_model() {
    let app: App<'_> = &[
        ("home", &[("Help", "help"), ("Sound settings", "sound"), ("Network settings", "net")]),
        ("help", &[]),
        ("sound", &[]),
        ("net", &[]),
    ];
    let (driver, questions, actions) = explored(config("goal_oriented", true), app, "none");
    assert!(!questions.is_empty());
    let (without, none, same) = explored(config("goal_oriented", false), app, "none");
    assert_eq!((none.len(), actions), (0, same));
    assert_eq!(driver.run.data.graph, without.run.data.graph);
    assert_eq!(driver.ended(), without.ended());
}
