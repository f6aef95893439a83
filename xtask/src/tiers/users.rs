//! The sandbox as both kinds of user meet it: root, who could do anything, and an ordinary one.

use std::{
    fs::{self, File},
    os::unix::fs::{MetadataExt, PermissionsExt, chown},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::ignored::{CAP, SANDBOX, TESTS, run};
use crate::{
    place::{self, Scratch},
    process,
};

/// An ordinary user. None need be known by that number.
const ORDINARY: u32 = 1000;
/// Tests that need a toolchain in the home directory.
const TOOLCHAINS: &str = "tool::sandbox::toolchains";

/// Tools in a real sandbox, as root and as an ordinary user.
pub(super) fn sandbox() -> Result<bool> {
    // The user of this process owns the entry.
    let user = fs::metadata("/proc/self").context("this tier needs Linux")?.uid();
    println!("as user {user}");
    let ours = run(&[SANDBOX], &[("POINTSMAN_SANDBOX_USER", user.to_string().as_ref())])?;
    if user != 0 {
        bail!(
            "the sandbox was tried as user {user} only ({}); root must be tried too: run this tier \
             as root, which also tries an ordinary user",
            if ours { "passed" } else { "FAILED" }
        );
    }
    println!("as user {ORDINARY}");
    Ok(ordinary()? && ours)
}

/// Runs the same tests as an ordinary user, who may have neither cargo nor a way to the
/// folder that it builds in: the tests and their helper are copied.
fn ordinary() -> Result<bool> {
    let scratch = Scratch::new()?;
    let home = scratch.file("home");
    let folder = home.parent().context("it lies in a folder")?;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755))?;
    let (tests, helper) = built(&scratch.file("built"))?;
    let copy = |from: &Path, name: &str| -> Result<PathBuf> {
        let to = scratch.file(name);
        fs::copy(from, &to).with_context(|| format!("copying {}", from.display()))?;
        fs::set_permissions(&to, fs::Permissions::from_mode(0o755))?;
        Ok(to)
    };
    let (tests, helper) = (copy(&tests, "tests")?, copy(&helper, "helper")?);
    fs::create_dir(&home)?;
    let temporary = home.join("tmp");
    fs::create_dir(&temporary)?;
    for path in [&home, &temporary] {
        chown(path, Some(ORDINARY), Some(ORDINARY))?;
    }
    let mut command = process::command("setpriv");
    let user = ORDINARY.to_string();
    command.args(["--reuid", &user, "--regid", &user, "--clear-groups", "--inh-caps=-all"]);
    // Toolchains are tried as root alone: this user's home has none.
    command.arg(tests).args(["--ignored", SANDBOX, "--skip", TOOLCHAINS]).current_dir(&home);
    command.env("HOME", &home).env("TMPDIR", &temporary);
    command.env("POINTSMAN_SANDBOX_HELPER", helper).env("POINTSMAN_SANDBOX_USER", user);
    command.env("CARGO_MANIFEST_DIR", place::root().join("crates/runtime"));
    Ok(process::run(command, CAP).context("starting setpriv")?.well())
}

/// Builds the tests and their helper; returns where they are.
fn built(log: &Path) -> Result<(PathBuf, PathBuf)> {
    let mut build = process::cargo(TESTS);
    build.args(["--no-run", "--message-format=json"]).stdout(File::create(log)?);
    if !process::run(build, CAP).context("starting cargo")?.well() {
        bail!("the tests cannot be built");
    }
    let messages = fs::read_to_string(log)?;
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let is_ours = |message: &Value| {
        let source = message.pointer("/target/src_path").and_then(Value::as_str);
        source.is_some_and(|path| path.ends_with("crates/runtime/tests/it/main.rs"))
    };
    let tests = messages
        .filter(is_ours)
        .find_map(|message| message.get("executable")?.as_str().map(PathBuf::from))
        .context("cargo names no tests of the runtime")?;
    let mut build = process::cargo(["build", "--locked", "--workspace"]);
    build.args(["--example", "sandbox_helper"]);
    if !process::run(build, CAP).context("starting cargo")?.well() {
        bail!("the helper cannot be built");
    }
    // The tests lie in `deps`, beside the examples.
    let profile = tests.ancestors().nth(2).context("the tests lie in a target folder")?;
    let helper = profile.join("examples/sandbox_helper");
    Ok((tests, helper))
}
