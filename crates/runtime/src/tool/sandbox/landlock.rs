//! Landlock: a process gives up what it could open, for itself and its children.
//!
//! It is a fallback. What lies in the workspace cannot be taken back from it, so git's
//! own files can be written. Of the network it knows TCP; other sockets are kept from being
//! made at all, except for those in files.

use std::{
    ffi::OsString,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::Path,
};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
    path_beneath_rules,
};

use super::{
    CommandLimits, HELPER, KEEP, calls,
    pinned::Id,
    place::{Mount, Place},
};

/// Devices that commands write to without a thought. Not the terminal: whoever opens it
/// can type into the shell of the person who started us.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full"];
/// What they read beside the system's folders. Not `/proc`: landlock does not keep the
/// environment of other processes from being read there, and keys are in it.
const READ: &[&str] = &["/dev/random", "/dev/urandom"];

/// Says why landlock cannot be used, if it cannot.
pub(super) fn missing() -> Option<String> {
    let error = match ruleset(false) {
        Ok(_) => calls::missing()?,
        Err(error) => error.to_string(),
    };
    Some(format!(
        "the kernel has no landlock that keeps commands from signalling other processes and from \
         the network: {error}"
    ))
}

/// Makes a ruleset. What the sixth version has is needed: it is the first that keeps commands
/// from signalling processes outside, this program among them, and from abstract sockets.
/// What later ones add is taken where it is there.
fn ruleset(network: bool) -> Result<RulesetCreated, RulesetError> {
    let needed = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V6))?
        .scope(Scope::from_all(ABI::V6))?;
    let needed =
        if network { needed } else { needed.handle_access(AccessNet::from_all(ABI::V6))? };
    needed
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(ABI::V9))?
        .scope(Scope::from_all(ABI::V9))?
        .create()
}

/// Keeps this process and its children from signalling any other. The family of a command is
/// held together by it: one signal stops all of it, and nothing else.
pub(super) fn keep_signals_in() -> Result<(), String> {
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .scope(Scope::Signal)
        .and_then(Ruleset::create)
        .and_then(RulesetCreated::restrict_self)
        .map_err(|error| error.to_string())?;
    if status.ruleset == RulesetStatus::FullyEnforced {
        return Ok(());
    }
    Err("the kernel does not enforce landlock".into())
}

/// Returns the arguments that the helper reads: what it may open, then `--`. Descriptors go
/// with them.
pub(super) fn arguments<'a>(
    place: &'a Place,
    scratch: &Path,
    limits: &CommandLimits,
) -> (Vec<OsString>, Vec<BorrowedFd<'a>>) {
    let (mut words, mut sources) = (Vec::<OsString>::new(), Vec::new());
    let held = [("read", &place.read_only), ("write", &place.writable)];
    for (how, mounts) in held {
        for Mount { path, source } in mounts {
            match source {
                Some(source) => {
                    words
                        .extend([format!("--{how}-held").into(), sources.len().to_string().into()]);
                    sources.push(source.descriptor.as_fd());
                }
                None => words.extend([format!("--{how}").into(), path.into()]),
            }
        }
    }
    for path in READ {
        words.extend(["--read".into(), path.into()]);
    }
    for path in [scratch].into_iter().chain(DEVICES.iter().map(Path::new)) {
        words.extend(["--write".into(), path.into()]);
    }
    if place.network {
        words.push("--network".into());
    }
    words.extend(limits.arguments(false));
    words.push("--".into());
    let count = sources.len().to_string();
    let first = [HELPER.into(), KEEP.into(), count.into()];
    (first.into_iter().chain(words).collect(), sources)
}

/// What a process may open from now on.
#[derive(Debug, Default)]
pub(super) struct Opened {
    pub(super) network: bool,
    pub(super) read: Vec<OsString>,
    pub(super) write: Vec<OsString>,
    pub(super) read_held: Vec<OwnedFd>,
    pub(super) write_held: Vec<OwnedFd>,
}

impl Opened {
    /// Gives everything else up.
    pub(super) fn confine(self) -> Result<(), String> {
        let reads = AccessFs::from_read(ABI::V9);
        // A device node gives access to a whole disk.
        let writes = AccessFs::from_all(ABI::V9) & !(AccessFs::MakeChar | AccessFs::MakeBlock);
        let status = ruleset(self.network)
            .and_then(|rules| rules.add_rules(path_beneath_rules(self.read, reads)))
            .and_then(|rules| rules.add_rules(path_beneath_rules(self.write, writes)))
            .and_then(|rules| rules.add_rules(rules_of(self.read_held, reads)))
            .and_then(|rules| rules.add_rules(rules_of(self.write_held, writes)))
            .and_then(RulesetCreated::restrict_self)
            .map_err(|error| error.to_string())?;
        if status.ruleset == RulesetStatus::NotEnforced {
            return Err("the kernel does not enforce landlock".into());
        }
        Ok(())
    }
}

fn rules_of(
    held: Vec<OwnedFd>,
    access: BitFlags<AccessFs>,
) -> impl Iterator<Item = Result<PathBeneath<OwnedFd>, RulesetError>> {
    held.into_iter().map(move |descriptor| {
        let folder = Id::of(&descriptor).is_ok_and(|(_, kind)| kind.is_dir());
        let fitting = if folder { access } else { access & AccessFs::from_file(ABI::V9) };
        Ok(PathBeneath::new(descriptor, fitting))
    })
}
