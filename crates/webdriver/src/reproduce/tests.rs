//! Crashes of recorded apps, found at random and made to happen again.

use std::{fs, path::PathBuf};

use pointsman_agents::explore::{
    DeviceAction, DeviceLocation, ExploreConfig, ExploreReport, ExploreTask, Screen, Target,
    map::{AppMap, MapReader, MishapKind},
    offers,
};
use pointsman_kernel::id::Digest;
use serde_json::{Value, json};

use super::{ReproduceOptions, TestDevice, TrialBudget, allowance, reproduce};
use crate::device::{Device as _, DeviceSettings, Gesture, Recording};

/// A folder that is removed with its test.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).ok();
    }
}

fn room(id: &str, package: &str, buttons: &[&str]) -> Value {
    let button = |name: &&str| {
        format!(
            r#"<a.Button class="a.Button" clickable="true" resource-id="{name}" text="{name}"/>"#
        )
    };
    let inside: String = buttons.iter().map(button).collect();
    let hierarchy = format!(
        r#"<hierarchy><a.Frame class="a.Frame" package="{package}">{inside}</a.Frame></hierarchy>"#
    );
    json!({ "type": "state", "id": id, "activity": id, "package": package, "flags": [],
        "hierarchy": hierarchy })
}

fn event(from: &str, to: &str, kind: &str, node: Option<u32>, p: f64) -> Value {
    json!({ "type": "event", "from": from, "to": to, "kind": kind, "raw": {}, "p": p,
        "target": node.map(|node| json!({ "node": node })) })
}

/// Writes a recording that starts in `a`.
fn recorded(name: &str, lines: &[Value]) -> (Folder, PathBuf) {
    let folder =
        std::env::temp_dir().join(format!("pointsman-reproduce-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).expect("folder is writable");
    let header = json!({ "type": "header", "app": "test", "package": "app", "kind": "synthetic",
        "initial": "a" });
    let lines = lines.iter().filter(|it| it["p"] != 0.0);
    let lines: Vec<String> = [&header].into_iter().chain(lines).map(ToString::to_string).collect();
    let file = folder.join("app.jsonl");
    fs::write(&file, lines.join("\n")).expect("file is writable");
    (Folder(folder), file)
}

/// A corridor of rooms with a loop in each; the last door brings the app down, always or by
/// chance.
fn corridor(name: &str, chance: f64) -> (Folder, PathBuf) {
    let lines = [
        room("a", "app", &["on", "idle"]),
        room("b", "app", &["on", "side"]),
        room("side", "app", &["idle"]),
        room("c", "app", &["boom", "idle"]),
        room("down", "android", &["aerr_close"]),
        event("a", "b", "tap", Some(1), 1.0),
        event("b", "c", "tap", Some(1), 1.0),
        event("b", "side", "tap", Some(2), 1.0),
        event("side", "b", "back", None, 1.0),
        event("b", "a", "back", None, 1.0),
        event("c", "b", "back", None, 1.0),
        event("c", "down", "tap", Some(1), chance),
        event("c", "c", "tap", Some(1), 1.0 - chance),
    ];
    recorded(name, &lines)
}

fn config(file: &std::path::Path, package: &str) -> ExploreConfig {
    let mut config = ExploreConfig::default();
    config.app.package = package.into();
    config.device =
        DeviceLocation { recording: Some(file.display().to_string()), ..DeviceLocation::default() };
    config.seed = 1;
    config
}

/// Explores at random, and starts again whenever the app is not in front.
async fn wander(config: &ExploreConfig, recording: &Recording, count: u64) -> AppMap {
    let mut reader = MapReader::new(config);
    let mut screen = Screen::default();
    for number in 0..count {
        let chance = Digest::of(format!("{} {number}", config.seed).as_bytes()).0;
        let chance = usize::from(chance[0]) << 8 | usize::from(chance[1]);
        let key = number.to_string();
        let all = offers(&screen);
        let lost = screen.package != config.app.package && screen.dialog.is_none();
        let down =
            screen.front(&config.app.package) == pointsman_agents::explore::Foreground::CrashDialog;
        let task = if lost || down || number % 60 == 0 {
            recording.restart(&config.app.package, &key).await.expect("app restarts");
            ExploreTask::Restart(config.app.clone())
        } else {
            let chosen = &all[chance % all.len()];
            let target = chosen.target.map(|it| it.ordinal);
            let gesture = Gesture {
                act: chosen.act,
                target: target.and_then(|it| usize::try_from(it).ok()),
                direction: chosen.direction,
                ..Gesture::default()
            };
            recording.act(&gesture, &key).await.expect("device performs the gesture");
            let target = target.map(|ordinal| Target { ordinal, bounds: None });
            let (act, direction, text) = (chosen.act, chosen.direction, None);
            let text = (act == DeviceAction::Text).then(|| "text".into()).or(text);
            ExploreTask::Perform { act, target, direction, text }
        };
        reader.take(number, &task, &ExploreReport::Performed { step: None });
        let look = recording.look().await.expect("screen is captured");
        screen = Screen::read(&look.tree, &look.package, &look.activity);
        let report = ExploreReport::Captured { screen: screen.clone(), running: true };
        reader.take(number, &ExploreTask::Verify, &report);
    }
    reader.map()
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("runtime is built")
        .block_on(future)
}

#[test]
fn a_crash_is_reduced_to_the_shortest_way_and_always_works() {
    let (_folder, file) = corridor("reduce", 1.0);
    let config = config(&file, "app");
    run(async {
        let recording = Recording::open(&file, 1, None).expect("recording is valid");
        let map = wander(&config, &recording, 300).await;
        let crash = map
            .mishaps
            .iter()
            .find(|it| it.kind == MishapKind::Crash)
            .expect("exploration found the mishap");
        let stage =
            TestDevice::new(&config, &DeviceSettings::default()).expect("device is available");
        let mut bench = TrialBudget::new(&map, stage);
        bench.left = 500;
        // Even where no shorter way is known.
        let longer = map.mishaps.iter().find(|it| it.kind == MishapKind::Crash).cloned();
        let found = bench
            .reproduce(&longer.expect("exploration found the crash"), None)
            .await
            .expect("mishap is replayed");
        let names: Vec<String> = found.path.iter().map(|at| map.moves[*at].action.name()).collect();
        assert_eq!(names, ["restart", "tap “on”", "tap “on”", "tap “boom”"]);
        assert_eq!((found.held, found.tries), (5, 5));
        assert!(!found.cut_short && found.actions <= 500);
        assert!(found.seen_after >= crash.path.len());
    });
}

#[test]
fn a_crash_by_chance_tells_its_rate() {
    let (_folder, file) = corridor("chance", 0.5);
    let config = config(&file, "app");
    run(async {
        let recording = Recording::open(&file, 1, None).expect("recording is valid");
        let map = wander(&config, &recording, 600).await;
        let crash = map
            .mishaps
            .iter()
            .find(|it| it.kind == MishapKind::Crash)
            .expect("exploration found the mishap");
        assert!(crash.otherwise > 0, "it was seen to go well: {crash:?}");
        let stage =
            TestDevice::new(&config, &DeviceSettings::default()).expect("device is available");
        let mut bench = TrialBudget::new(&map, stage);
        bench.left = 5_000;
        let found = bench.reproduce(crash, None).await.expect("mishap is replayed");
        assert_eq!(found.path.len(), 4);
        assert_eq!(found.tries, 20);
        assert!((3..=17).contains(&found.held), "{}", found.held);
    });
}

#[test]
fn the_budget_is_kept() {
    let (_folder, file) = corridor("budget", 1.0);
    let config = config(&file, "app");
    run(async {
        let recording = Recording::open(&file, 1, None).expect("recording is valid");
        let map = wander(&config, &recording, 300).await;
        let crash = map
            .mishaps
            .iter()
            .find(|it| it.kind == MishapKind::Crash)
            .expect("exploration found the mishap");
        let stage =
            TestDevice::new(&config, &DeviceSettings::default()).expect("device is available");
        let mut bench = TrialBudget::new(&map, stage);
        bench.left = 5;
        let found = bench.reproduce(crash, None).await.expect("mishap is replayed");
        assert!(found.cut_short && found.actions == 5, "{found:?}");
    });
}

#[test]
fn a_long_way_has_a_budget_for_all_its_tries() {
    // A row of rooms; behind the last one is a door that brings the app down now and then.
    let name = |at: usize| if at == 0 { "a".to_owned() } else { format!("r{at}") };
    let mut lines = vec![room("down", "android", &["aerr_close"])];
    for at in 0..ROOMS {
        lines.push(room(&name(at), "app", &["on"]));
        let (next, chance) =
            if at + 1 < ROOMS { (name(at + 1), 1.0) } else { ("down".into(), 0.5) };
        lines.push(event(&name(at), &next, "tap", Some(1), chance));
        lines.push(event(&name(at), "a", "tap", Some(1), 1.0 - chance));
    }
    let (_folder, file) = recorded("long", &lines);
    let config = config(&file, "app");
    run(async {
        let recording = Recording::open(&file, 1, None).expect("recording is valid");
        let map = walk(&config, &recording).await;
        let [crash] = map.mishaps.as_slice() else { panic!("one crash: {:?}", map.mishaps) };
        let found = reproduce(&config, &map, &ReproduceOptions::default())
            .await
            .expect("mishap is replayed");
        let [found] = found.as_slice() else { panic!("one: {found:?}") };
        assert_eq!((found.path.len(), found.tries), (ROOMS + 1, 20));
        assert!((3..=17).contains(&found.held), "{found:?}");
        assert!(found.actions > 500 && found.actions <= allowance(crash.path.len()), "{found:?}");
        let options = ReproduceOptions { actions: Some(300), ..ReproduceOptions::default() };
        let found = reproduce(&config, &map, &options).await.expect("mishap is replayed");
        assert!(found[0].cut_short && found[0].actions <= 300, "what a person sets is kept");
    });
}

const ROOMS: usize = 30;

/// Starts the app, and taps the only button until it is down.
async fn walk(config: &ExploreConfig, recording: &Recording) -> AppMap {
    let mut reader = MapReader::new(config);
    recording.restart(&config.app.package, "0").await.expect("app restarts");
    let mut task = ExploreTask::Restart(config.app.clone());
    for number in 1.. {
        reader.take(number, &task, &ExploreReport::Performed { step: None });
        let look = recording.look().await.expect("screen is captured");
        let screen = Screen::read(&look.tree, &look.package, &look.activity);
        let down = screen.package == "android";
        reader.take(
            number,
            &ExploreTask::Verify,
            &ExploreReport::Captured { screen, running: true },
        );
        if down {
            break;
        }
        let gesture = Gesture { act: DeviceAction::Tap, target: Some(1), ..Gesture::default() };
        recording.act(&gesture, &number.to_string()).await.expect("device performs the gesture");
        let target = Some(Target { ordinal: 1, bounds: None });
        task = ExploreTask::Perform { act: DeviceAction::Tap, target, direction: None, text: None };
    }
    reader.map()
}

#[test]
fn the_budget_grows_with_the_way_and_is_bounded() {
    assert_eq!([1, 8, 10, 30, 50, 1_000].map(allowance), [500, 500, 600, 1_800, 3_000, 3_000]);
}
