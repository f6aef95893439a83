//! Landlock: a process gives up what it could open, for itself and its children.
//!
//! It is a fallback. What lies in the workspace cannot be taken back from it, so git's
//! own files can be written. Of the network it knows TCP; other sockets are kept from being
//! made at all, except for those in files.
//!
//! The helper is two processes. The outer one keeps the family together: whatever a
//! command leaves behind becomes its child, and is stopped before it ends itself. The
//! inner one gives everything up and becomes the program.

use std::{
    convert::Infallible,
    env,
    ffi::OsString,
    os::unix::process::{CommandExt, ExitStatusExt},
    path::Path,
    process::{Command, ExitCode, ExitStatus},
};

use rustix::process::{
    Signal, WaitOptions, getpid, kill_process, set_child_subreaper,
    set_parent_process_death_signal, wait,
};

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use super::{super::process::left, place::Place, sockets};

/// Devices that commands write to without a thought. Not the terminal: whoever opens it
/// can type into the shell of the person who started us.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full"];
/// What they read beside the system's folders. Not `/proc`: landlock does not keep the
/// environment of other processes from being read there, and keys are in it.
const READ: &[&str] = &["/dev/random", "/dev/urandom"];

/// Says why landlock cannot be used, if it cannot.
pub(super) fn missing() -> Option<String> {
    let error = match ruleset(false) {
        Ok(_) => sockets::missing()?,
        Err(error) => error.to_string(),
    };
    Some(format!("the kernel has no landlock that could shut off the network: {error}"))
}

/// Makes a ruleset. What the fourth version has is needed, because it is the first that
/// knows the network; what later ones add is taken where it is there.
fn ruleset(network: bool) -> Result<RulesetCreated, RulesetError> {
    let needed = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V4))?;
    let needed =
        if network { needed } else { needed.handle_access(AccessNet::from_all(ABI::V4))? };
    needed
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(ABI::V9))?
        .scope(Scope::from_all(ABI::V9))?
        .create()
}

/// Returns the arguments that the helper reads: what it may open, then `--`.
pub(super) fn arguments(place: &Place, scratch: &Path) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec![super::HELPER.into()];
    if place.network {
        arguments.push("--network".into());
    }
    let mut add = |how: &str, path: &Path| arguments.extend([how.into(), path.into()]);
    for path in place.read_only.iter().map(AsRef::as_ref).chain(READ.iter().map(Path::new)) {
        add("--read", path);
    }
    let writable = [place.root.as_path(), scratch];
    let more = place.writable.iter().map(AsRef::as_ref).chain(DEVICES.iter().map(Path::new));
    for path in writable.into_iter().chain(more) {
        add("--write", path);
    }
    arguments.push("--".into());
    arguments
}

/// What the helper was told.
#[derive(Default)]
struct Told {
    network: bool,
    read: Vec<OsString>,
    write: Vec<OsString>,
    program: Vec<OsString>,
}

fn told(mut arguments: impl Iterator<Item = OsString>) -> Result<Told, String> {
    let mut told = Told::default();
    while let Some(argument) = arguments.next() {
        let mut path = || arguments.next().ok_or("a path is missing");
        match argument.to_str() {
            Some("--network") => told.network = true,
            Some("--read") => told.read.push(path()?),
            Some("--write") => told.write.push(path()?),
            Some("--") => {
                told.program = arguments.collect();
                return Ok(told);
            }
            _ => return Err(format!("`{}` is not known", argument.display())),
        }
    }
    Err("there is no program to run".into())
}

/// The first argument of the inner process.
const INNER: &str = "--inner";
/// Processes that are collected in the end; more than that are left to the system.
const COLLECTED: usize = 10_000;

/// Runs a program with everything else given up; returns how it ended, or why it could
/// not be run.
pub(super) fn helped(mut arguments: impl Iterator<Item = OsString>) -> Result<ExitCode, String> {
    // A command whose parent is gone has nobody to answer to.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| error.to_string())?;
    let first = arguments.next().ok_or("there is no program to run")?;
    if first == INNER {
        match become_program(arguments)? {}
    }
    keep([first].into_iter().chain(arguments))
}

/// Starts the inner process and waits for it; what it leaves behind is stopped.
fn keep(arguments: impl Iterator<Item = OsString>) -> Result<ExitCode, String> {
    set_child_subreaper(Some(getpid())).map_err(|error| error.to_string())?;
    let ours = env::current_exe().map_err(|error| error.to_string())?;
    let mut inner = Command::new(ours);
    inner.args([super::HELPER, INNER]).args(arguments);
    let status = inner.status().map_err(|error| error.to_string());
    left::stop_below(getpid());
    for _ in 0..COLLECTED {
        // Until nothing is left that has ended.
        if !matches!(wait(WaitOptions::NOHANG), Ok(Some(_))) {
            break;
        }
    }
    status.map(ended)
}

/// Ends as the program did: by the same signal, or with the same code.
fn ended(status: ExitStatus) -> ExitCode {
    if let Some(signal) = status.signal().and_then(Signal::from_named_raw) {
        // Where that signal does not end us, the code says it as shells do.
        kill_process(getpid(), signal).ok();
    }
    let code = status.code().or_else(|| status.signal()?.checked_add(128));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
}

/// Gives everything else up and becomes the program; returns why it could not.
fn become_program(arguments: impl Iterator<Item = OsString>) -> Result<Infallible, String> {
    let Told { network, read, write, program } = told(arguments)?;
    let [name, rest @ ..] = program.as_slice() else { return Err("there is no program".into()) };
    let status = ruleset(network)
        .and_then(|rules| rules.add_rules(path_beneath_rules(read, AccessFs::from_read(ABI::V9))))
        .and_then(|rules| rules.add_rules(path_beneath_rules(write, AccessFs::from_all(ABI::V9))))
        .and_then(RulesetCreated::restrict_self)
        .map_err(|error| error.to_string())?;
    if status.ruleset == RulesetStatus::NotEnforced {
        return Err("the kernel does not enforce landlock".into());
    }
    if !network {
        sockets::shut_off()?;
    }
    Err(Command::new(name).args(rest).exec().to_string())
}
