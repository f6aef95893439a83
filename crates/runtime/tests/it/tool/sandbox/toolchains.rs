//! The toolchain that these tests were built with, in the sandbox.

use std::fs;

use serde_json::json;

use super::{super::TestSession, KINDS, policy, sh, works};

/// A workspace with a crate, whose commands see the toolchains of this machine.
fn with_crate(kind: &str, name: &str) -> TestSession {
    let desk = TestSession::with(&format!("{kind}-{name}"), |settings| {
        settings.sandbox = policy(kind);
        let caches = settings.root.parent().expect("the path has a parent folder").join("caches");
        settings.sandbox.toolchains = Some(caches);
        settings.limits.shell_ms = 600_000;
        settings.limits.shell_max_ms = 600_000;
    });
    desk.put("Cargo.toml", "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    desk.put("src/main.rs", "fn main() { println!(\"it runs\"); }\n");
    desk
}

/// The folder of cargo itself, which may not be the one in `PATH`.
fn cargo() -> &'static str {
    env!("CARGO")
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn a_crate_is_built_and_run_without_the_network() {
    for kind in KINDS {
        let desk = with_crate(kind, "builds");
        let said = works(&desk, "cargo build --offline && ./target/debug/tiny");
        assert!(said.contains("it runs"), "{kind}: {said}");
        // What cargo writes is in the folder of this workspace, and nothing is in the person's.
        let caches = desk.folder.0.join("caches");
        assert!(caches.join("cargo").is_dir(), "{kind}");
        let said = works(&desk, "echo $CARGO_HOME");
        assert!(said.contains(&caches.join("cargo").display().to_string()), "{kind}: {said}");
        let (ok, said) = sh(&desk, "touch $RUSTUP_HOME/toolchains/x ~/.cargo/bin/x");
        assert!(!ok, "{kind}: {said}");
        // A command cannot put anything where the person's own cargo would find it.
        let program = std::path::Path::new(cargo());
        let bin = program.parent().expect("the path has a parent folder").display().to_string();
        let (ok, said) = sh(&desk, &format!("test ! -e {bin} || touch {bin}/planted"));
        assert!(!ok || !program.with_file_name("planted").exists(), "{kind}: {said}");
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn every_toolchain_in_the_path_is_tried() {
    for kind in KINDS {
        let desk = with_crate(kind, "tried");
        let tried = desk.tools.try_toolchains(std::time::Duration::from_mins(5));
        let cargo = tried.iter().find(|it| it.program == "cargo").expect("cargo is in PATH");
        let version = cargo.answer.as_ref().expect("it runs");
        assert!(version.starts_with("cargo 1."), "{kind}: {version}");
        assert!(tried.iter().any(|it| it.program == "rustc" && it.answer.is_ok()), "{tried:?}");
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn a_program_that_is_not_found_gets_the_lines_that_show_it() {
    for kind in KINDS {
        // Without toolchains the home directory is not there.
        let desk = super::desk(kind, "missing");
        let said = wait_for(&desk, "no-such-program --version");
        let hint = said.lines().nth(1).unwrap_or_default();
        let wanted =
            "[notice] `no-such-program` is installed neither in the sandbox nor outside it";
        assert!(hint.starts_with(wanted), "{kind}: {said}");
        let said = wait_for(&desk, "cargo --version");
        // A system's own cargo is found; one in a home directory is named.
        if said.starts_with("exit code 12") {
            assert!(said.contains("[sandbox] read_only = ["), "{kind}: {said}");
        } else {
            assert!(fs::metadata("/usr/bin/cargo").is_ok(), "{kind}: {said}");
        }
    }
}

fn wait_for(desk: &TestSession, command: &str) -> String {
    super::super::wait(desk.call("shell", json!({ "command": command }))).output
}
