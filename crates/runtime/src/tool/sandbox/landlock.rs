//! Landlock: a process gives up what it could open, for itself and its children.
//!
//! It is a fallback. What lies in the workspace cannot be taken back from it, so git's
//! own files can be written. Of the network it knows TCP; other sockets are kept from being
//! made at all, except for those in files.

use std::{
    ffi::OsString,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::Path,
    thread,
};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus,
    PathBeneath, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError,
    RulesetStatus, Scope, path_beneath_rules,
};

use super::{
    CommandLimits, HELPER, KEEP, calls,
    pinned::Id,
    place::{Mount, SandboxView},
};

/// Devices that commands may write to. Not the terminal: a program that opens it can type into the
/// shell of the person who started us.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full"];
/// What they read beside the system's folders. Not `/proc`: landlock does not keep the
/// environment of other processes from being read there, and keys are in it.
const READ: &[&str] = &["/dev/random", "/dev/urandom"];

/// The version that is needed: the first that keeps commands from signalling processes outside,
/// this program among them, and from abstract sockets.
const NEEDED: ABI = ABI::V6;

/// Says why landlock cannot be used, if it cannot.
pub(super) fn missing() -> Option<String> {
    let old = version().map_or_else(|error| Some(error.to_string()), too_old);
    let unmade = || ruleset(false).err().map(|error| error.to_string());
    let error = old.or_else(unmade).or_else(calls::missing)?;
    Some(format!("the kernel's landlock cannot block signals and network: {error}"))
}

/// Returns the kernel's landlock. The library tells it only to a thread that gives something
/// up, so a thread does that and ends.
fn version() -> Result<LandlockStatus, RulesetError> {
    let ask = || Ruleset::default().scope(Scope::Signal)?.create()?.restrict_self();
    // A thread that does not come back is as good as a kernel without landlock.
    let none = |_| Ok(LandlockStatus::NotImplemented);
    thread::spawn(ask).join().map_or_else(none, |asked| asked.map(|status| status.landlock))
}

/// Says why a kernel's landlock is not enough, if it is not.
fn too_old(kernel: LandlockStatus) -> Option<String> {
    match kernel {
        LandlockStatus::Available { effective_abi, .. } if effective_abi >= NEEDED => None,
        LandlockStatus::Available { effective_abi, .. } => {
            Some(format!("it has version {effective_abi}, and {NEEDED} is needed"))
        }
        LandlockStatus::NotEnabled => Some("landlock is not enabled".into()),
        LandlockStatus::NotImplemented => Some("landlock is not built in".into()),
    }
}

/// Makes a ruleset. What the needed version has must be there; what later ones add is taken
/// where it is there.
fn ruleset(network: bool) -> Result<RulesetCreated, RulesetError> {
    let needed = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(NEEDED))?
        .scope(Scope::from_all(NEEDED))?;
    let needed =
        if network { needed } else { needed.handle_access(AccessNet::from_all(NEEDED))? };
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
    place: &'a SandboxView,
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
pub(super) struct OpenedPaths {
    pub(super) network: bool,
    pub(super) read: Vec<OsString>,
    pub(super) write: Vec<OsString>,
    pub(super) read_held: Vec<OwnedFd>,
    pub(super) write_held: Vec<OwnedFd>,
}

impl OpenedPaths {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_landlock_before_the_sixth_is_refused() {
        let kernel = |abi: i32| {
            let effective_abi = ABI::from(abi);
            too_old(LandlockStatus::Available { effective_abi, kernel_abi: None })
        };
        for abi in 1..=5 {
            let why = kernel(abi).unwrap_or_default();
            assert_eq!(why, format!("it has version {abi}, and 6 is needed"));
        }
        for abi in 6..=30 {
            assert_eq!(kernel(abi), None, "{abi}");
        }
        for kernel in [LandlockStatus::NotEnabled, LandlockStatus::NotImplemented] {
            assert!(too_old(kernel).is_some(), "{kernel:?}");
        }
    }
}
