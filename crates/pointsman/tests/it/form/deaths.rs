//! Something dies in the middle: the browser, or the program itself.

use std::{collections::BTreeMap, fs, thread, time::Duration};

use super::rig::{ADA, Rig};

const ANSWERS: &str = r#"
[answers]
"How would you like to travel?" = "By train"
"Why do you want to come?" = "For the trains."
"#;

/// Returns the descendants of a process, parents first.
fn below(id: u32) -> Vec<(u32, String)> {
    let mut parents = BTreeMap::new();
    for entry in fs::read_dir("/proc").expect("the folder is readable").flatten() {
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        let Some((head, tail)) = stat.rsplit_once(") ") else { continue };
        let Some((child, name)) = head.split_once(" (") else { continue };
        let parent = tail.split(' ').nth(1).and_then(|it| it.parse::<u32>().ok());
        if let (Ok(child), Some(parent)) = (child.parse::<u32>(), parent) {
            parents.insert(child, (parent, name.to_owned()));
        }
    }
    let mut found: Vec<(u32, String)> = vec![(id, String::new())];
    let mut at = 0;
    while let Some((parent, _)) = found.get(at).cloned() {
        let children = parents.iter().filter(|(_, (it, _))| *it == parent);
        found.extend(children.map(|(child, (_, name))| (*child, name.clone())));
        at += 1;
    }
    found.remove(0);
    found
}

/// Returns the browser that a process drives.
fn browser_of(id: u32) -> Vec<String> {
    let browsers = below(id).into_iter().filter(|(_, name)| name.starts_with("chromium"));
    let browsers: Vec<String> = browsers.map(|(id, _)| id.to_string()).collect();
    assert!(!browsers.is_empty(), "no browser runs below {id}");
    browsers
}

fn kill(processes: &[String]) {
    let killed = std::process::Command::new("kill").arg("-KILL").args(processes).status();
    assert!(killed.is_ok());
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn a_browser_that_is_killed_ends_the_run_with_a_clear_word() {
    let rig = Rig::new("browser-killed", &format!("{ADA}{ANSWERS}"));
    let mut running = rig.start("plain", &["--submit", "yes"], &[]);
    running.until("something is typed", || !rig.notes("input").is_empty());
    kill(&browser_of(running.id()));
    let ran = running.end();
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    // How far it came differs; what it says of its end does not.
    let told = rig.told(&ran);
    assert!(told.contains("browser"), "{told}");
    assert_eq!(rig.state(), "error");
    assert!(rig.site.delivery("/sent").is_empty());
    assert_eq!(rig.home.pointsman(&["replay", "last"]).0, 0);
}

/// Returns how many characters were put into each field, as far as is known.
fn typed_so_far(rig: &Rig) -> BTreeMap<String, usize> {
    let mut typed = BTreeMap::new();
    for note in rig.notes("input") {
        let field = note["field"].as_str().expect("it has a name").to_owned();
        *typed.entry(field).or_default() += 1;
    }
    typed
}

/// Returns how many characters were put into each field. Each is reported in its own message, and
/// the last may still be on its way.
fn typed(rig: &Rig) -> BTreeMap<String, usize> {
    let mut before = typed_so_far(rig);
    for _ in 0..20 {
        thread::sleep(Duration::from_millis(300));
        let now = typed_so_far(rig);
        if now == before {
            break;
        }
        before = now;
    }
    before
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn killed_run_resumes_in_its_browser_without_refilling() {
    let rig = Rig::new("alone", &format!("{ADA}{ANSWERS}"));
    let ran = rig.fill("plain", &["--submit", "yes"]);
    assert_eq!(ran.code, Some(0), "{}", rig.told(&ran));
    let (once, steps) = (typed(&rig), rig.last()["entries"].as_array().map_or(0, Vec::len));
    let sent = rig.sent();
    assert!(steps > 15, "{steps} steps are too few to die at");
    for at in (3..steps).step_by(4) {
        for moment in [format!("persisted:{at}"), format!("attempted:{at}")] {
            let rig = Rig::new(&moment.replace(':', "-"), &format!("{ADA}{ANSWERS}"));
            let dying = [("POINTSMAN_DIE_AT", moment.as_str())];
            let died = rig.start("plain", &["--submit", "yes"], &dying).end();
            assert_eq!(died.code, None, "{moment}: {}", rig.told(&died));
            let resumed = rig.command(&["resume", "last"], &[]).end();
            assert_eq!(resumed.code, Some(0), "{moment}: {}", rig.told(&resumed));
            assert_eq!(typed(&rig), once, "{moment}");
            assert_eq!(rig.sent(), sent, "{moment}");
            assert_eq!(rig.home.pointsman(&["replay", "last"]).0, 0, "{moment}");
        }
    }
}

/// A press that was written down for an earlier page says nothing of the last one.
#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn form_reported_as_sent_after_a_crash_was_sent_once() {
    let profile = format!(
        "{ADA}name = \"Ada Lovelace\"\naddress-line1 = \"12 Harbour Road\"\n\
         address-level2 = \"Whitby\"\npostal-code = \"YO21 1AA\"\n\
         [answers]\n\"Moving day\" = \"2026-12-01\"\n"
    );
    let rig = Rig::new("sent-once", &profile);
    let ran = rig.fill("wizard", &["--submit", "yes"]);
    assert_eq!(ran.code, Some(0), "{}", rig.told(&ran));
    let steps = rig.last()["entries"].as_array().map_or(0, Vec::len);
    for at in steps - 3..steps {
        for moment in [format!("persisted:{at}"), format!("attempted:{at}")] {
            let rig = Rig::new(&format!("once-{}", moment.replace(':', "-")), &profile);
            let dying = [("POINTSMAN_DIE_AT", moment.as_str())];
            let died = rig.start("wizard", &["--submit", "yes"], &dying).end();
            assert_eq!(died.code, None, "{moment}: {}", rig.told(&died));
            let resumed = rig.command(&["resume", "last"], &[]).end();
            assert_eq!(resumed.code, Some(0), "{moment}: {}", rig.told(&resumed));
            assert_eq!(rig.site.delivery("/sent").len(), 1, "{moment}");
        }
    }
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn run_killed_at_any_time_resumes() {
    let rig = Rig::new("any-time", &format!("{ADA}{ANSWERS}"));
    let running = {
        let mut running = rig.start("plain", &["--submit", "yes"], &[]);
        running.until("an email is typed", || {
            let typed = typed_so_far(&rig);
            let told = [("given", 3), ("family", 8)]
                .iter()
                .all(|(field, count)| typed.get(*field) == Some(count));
            typed.contains_key("email") && told
        });
        running
    };
    running.kill();
    let before = typed(&rig);
    let resumed = rig.command(&["resume", "last"], &[]).end();
    assert_eq!(resumed.code, Some(0), "{}", rig.told(&resumed));
    // What was verified before is not touched again.
    let after = typed(&rig);
    for field in ["given", "family"] {
        assert_eq!(before.get(field), after.get(field), "{field}");
    }
    assert_eq!(rig.sent()["email"], "ada@example.org");
    assert_eq!(rig.site.delivery("/sent").len(), 1);
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn resume_reports_a_lost_browser() {
    let rig = Rig::new("both", &format!("{ADA}{ANSWERS}"));
    let mut running = rig.start("plain", &[], &[]);
    running.until("something is typed", || !rig.notes("input").is_empty());
    let browser = browser_of(running.id());
    running.kill();
    kill(&browser);
    let resumed = rig.command(&["resume", "last"], &[]).end();
    assert_eq!(resumed.code, Some(1), "{}", rig.told(&resumed));
    // The field depends on the moment of the kill.
    for words in ["lost the browser", "start a new run", "failed in `error`"] {
        assert!(rig.told(&resumed).contains(words), "{}", rig.told(&resumed));
    }
    assert_eq!(rig.state(), "error");
}
