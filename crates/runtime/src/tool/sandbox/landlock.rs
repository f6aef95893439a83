//! Landlock: a process gives up what it could open, for itself and its children.
//!
//! It is a fallback. What lies in the workspace cannot be taken back from it, so git's
//! own files can be written; of the network, only TCP is shut off.

use std::{ffi::OsString, path::Path, process::Command};

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use super::place::Place;

/// Devices that commands write to without a thought.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/tty"];
/// What they read beside the system's folders. Not `/proc`: landlock does not keep the
/// environment of other processes from being read there, and keys are in it.
const READ: &[&str] = &["/dev/random", "/dev/urandom"];

/// Says why landlock cannot be used, if it cannot.
pub(super) fn missing() -> Option<String> {
    let error = ruleset(false).err()?;
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

/// Gives everything else up and becomes the program; returns why it could not.
pub(super) fn become_program(arguments: impl Iterator<Item = OsString>) -> String {
    match confined(arguments) {
        Ok(never) => match never {},
        Err(why) => why,
    }
}

fn confined(arguments: impl Iterator<Item = OsString>) -> Result<std::convert::Infallible, String> {
    use std::os::unix::process::CommandExt;

    let Told { network, read, write, program } = told(arguments)?;
    let [name, rest @ ..] = program.as_slice() else { return Err("there is no program".into()) };
    // A command whose parent is gone has nobody to answer to.
    let dies =
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    dies.map_err(|error| error.to_string())?;
    let status = ruleset(network)
        .and_then(|rules| rules.add_rules(path_beneath_rules(read, AccessFs::from_read(ABI::V9))))
        .and_then(|rules| rules.add_rules(path_beneath_rules(write, AccessFs::from_all(ABI::V9))))
        .and_then(RulesetCreated::restrict_self)
        .map_err(|error| error.to_string())?;
    if status.ruleset == RulesetStatus::NotEnforced {
        return Err("the kernel does not enforce landlock".into());
    }
    Err(Command::new(name).args(rest).exec().to_string())
}
