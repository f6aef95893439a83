//! Playing a recording: each rule of replay, chance, and continuing after a stop.

use std::fs;

use serde_json::json;

use super::*;

/// A folder that is removed with its test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("pointsman-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("folder is writable");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).ok();
    }
}

fn screen(id: &str, flags: &[&str], inside: &str) -> String {
    let hierarchy = format!(
        r#"<hierarchy><a.Frame class="a.Frame" package="app">{inside}</a.Frame></hierarchy>"#
    );
    let line = json!({ "type": "state", "id": id, "activity": "Main", "package": "app",
        "flags": flags, "hierarchy": hierarchy });
    line.to_string()
}

fn event(from: &str, to: &str, kind: &str, node: Option<usize>, p: Option<f64>) -> String {
    let direction = if kind == "swipe" { json!({ "direction": "up" }) } else { json!({}) };
    let line = json!({ "type": "event", "from": from, "to": to, "kind": kind,
        "target": node.map(|node| json!({ "node": node })), "raw": direction, "p": p });
    line.to_string()
}

fn button(id: &str, text: &str) -> String {
    format!(
        r#"<a.Box class="a.Box" clickable="true" resource-id="{id}"><a.Text class="a.Text" text="{text}"/></a.Box>"#
    )
}

fn write(folder: &Folder, kind: &str, lines: &[String]) -> PathBuf {
    let header = json!({ "type": "header", "app": "test", "package": "app", "kind": kind,
        "initial": "home" });
    let path = folder.0.join("app.jsonl");
    let lines: Vec<String> =
        [header.to_string()].into_iter().chain(lines.iter().cloned()).collect();
    fs::write(&path, lines.join("\n")).expect("file is writable");
    path
}

fn go(player: &Recording, act: DeviceAction, target: Option<usize>, key: &str) -> String {
    let direction = (act == DeviceAction::Swipe).then_some(Direction::Up);
    let gesture = Gesture { act, target, direction, ..Gesture::default() };
    let done = tokio::runtime::Builder::new_current_thread().build().expect("runtime is built");
    let step = done
        .block_on(player.act(&gesture, key))
        .expect("device performs the gesture")
        .expect("device performs the gesture");
    assert_eq!(step.to, player.at());
    step.to
}

#[test]
fn a_tap_acts_on_the_nearest_clickable_element() {
    let folder = Folder::new("nearest");
    let lines = [
        screen("home", &[], &button("go", "Next")),
        screen("next", &[], &button("end", "End")),
        event("home", "next", "tap", Some(1), None),
    ];
    let player =
        Recording::open(&write(&folder, "synthetic", &lines), 1, None).expect("recording is valid");
    // The text inside the button is element 2, the button element 1.
    assert_eq!(go(&player, DeviceAction::Tap, Some(2), "a"), "next");
    assert_eq!(go(&player, DeviceAction::Tap, Some(1), "b"), "next", "no edge: the screen stays");
    assert_eq!(go(&player, DeviceAction::Back, None, "c"), "next");
    let step =
        player.take(RecordedAction::plain(RecordedActionKind::Restart), "d").expect("app restarts");
    assert_eq!((step.from.as_str(), step.to.as_str(), &*step.kind), ("next", "home", "restart"));
}

#[test]
fn events_of_similar_screens_apply_unless_synthetic() {
    let folder = Folder::new("alike");
    let lines = [
        screen("home", &[], &button("go", "Item 1")),
        screen("other", &[], &button("go", "Item 22")),
        screen("next", &[], "<a.End class=\"a.End\"/>"),
        event("home", "other", "back", None, None),
        event("other", "next", "tap", Some(1), None),
    ];
    let file = write(&folder, "recorded", &lines);
    // The text belongs to an element inside the button, so the digits do not matter.
    assert_eq!(
        go(
            &Recording::open(&file, 1, None).expect("recording is valid"),
            DeviceAction::Tap,
            Some(1),
            "a"
        ),
        "next"
    );
    let file = write(&folder, "synthetic", &lines);
    assert_eq!(
        go(
            &Recording::open(&file, 1, None).expect("recording is valid"),
            DeviceAction::Tap,
            Some(1),
            "a"
        ),
        "home"
    );
}

#[test]
fn screen_without_controls_is_touched_or_waited_for() {
    let folder = Folder::new("passive");
    let lines = [
        screen("home", &["passive"], "<a.Logo class=\"a.Logo\"/>"),
        screen("next", &[], &button("end", "End")),
        event("home", "next", "tap", Some(0), None),
    ];
    let file = write(&folder, "recorded", &lines);
    for (act, target) in
        [(DeviceAction::Wait, None), (DeviceAction::Tap, Some(1)), (DeviceAction::Swipe, Some(0))]
    {
        let player = Recording::open(&file, 1, None).expect("recording is valid");
        assert_eq!(go(&player, act, target, "a"), "next");
        assert_eq!(go(&player, act, target, "b"), "next");
    }
    let player = Recording::open(&file, 1, None).expect("recording is valid");
    assert_eq!(go(&player, DeviceAction::Back, None, "a"), "home");
}

#[test]
fn chance_depends_on_seed_state_action_and_turn_alone() {
    let folder = Folder::new("chance");
    let lines = [
        screen("home", &[], &button("go", "Go")),
        screen("left", &[], ""),
        screen("right", &[], &button("b", "B")),
        event("home", "left", "tap", Some(1), Some(0.25)),
        event("home", "right", "tap", Some(1), Some(0.75)),
    ];
    let file = write(&folder, "synthetic", &lines);
    let draws = |seed: u64, idle: bool| -> Vec<String> {
        let player = Recording::open(&file, seed, None).expect("recording is valid");
        let draw = |turn: u32| {
            player
                .take(RecordedAction::plain(RecordedActionKind::Restart), &format!("r{turn}"))
                .expect("app restarts");
            if idle {
                go(&player, DeviceAction::Back, None, &format!("i{turn}"));
            }
            go(&player, DeviceAction::Tap, Some(1), &format!("t{turn}"))
        };
        (0..400).map(draw).collect()
    };
    assert_eq!(draws(1, false), draws(1, true));
    assert_ne!(draws(1, false), draws(2, false));
    let left = draws(1, false).iter().filter(|to| *to == "left").count();
    assert!((60..140).contains(&left), "a quarter of 400 is near 100, not {left}");
}

#[test]
fn resumed_player_repeats_no_action() {
    let folder = Folder::new("kept");
    let lines = [
        screen("home", &[], &button("go", "Go")),
        screen("next", &[], &button("go", "Go")),
        screen("last", &[], ""),
        event("home", "next", "tap", Some(1), None),
        event("next", "last", "tap", Some(1), None),
    ];
    let file = write(&folder, "synthetic", &lines);
    let kept = folder.0.join("deep/run.json");
    let open = || Recording::open(&file, 1, Some(kept.clone())).expect("recording is valid");
    assert_eq!(go(&open(), DeviceAction::Tap, Some(1), "first"), "next");
    assert_eq!(
        go(&open(), DeviceAction::Tap, Some(1), "first"),
        "next",
        "the same effect, asked again"
    );
    assert_eq!(go(&open(), DeviceAction::Tap, Some(1), "second"), "last");
    fs::write(&kept, r#"{"at":"elsewhere","taken":{},"last":null}"#).expect("file is writable");
    let error = Recording::open(&file, 1, Some(kept)).expect_err("it is refused");
    assert!(matches!(error, RecordingError::OtherGraph), "{error}");
}

#[test]
fn a_bad_recording_is_refused_with_its_line() {
    let folder = Folder::new("bad");
    let said = |lines: &[String]| {
        let file = write(&folder, "recorded", lines);
        Recording::open(&file, 1, None).expect_err("it is refused").to_string()
    };
    let home = || screen("home", &[], "");
    assert!(said(&[]).contains("`initial` names no state"));
    assert!(said(&[home(), "{".into()]).contains("line 3: "));
    assert!(
        said(&[home(), event("home", "gone", "back", None, None)])
            .contains("line 3: no state gone")
    );
    assert!(said(&[screen("home", &[], "<a")]).contains("line 2: not well-formed XML"));
    let missing = Recording::open(&folder.0.join("none"), 1, None).expect_err("it is not there");
    assert!(missing.to_string().starts_with("cannot read "));
}
