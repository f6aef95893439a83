//! System calls that no command gets to make: sockets of families that it does not need, and
//! parts of the kernel that reach beyond a sandbox.

use std::{collections::BTreeMap, env::consts::ARCH};

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

/// Added to the number of a call where it is made as x32 programs make it. Other machines
/// have no call with such a number.
const X32: i64 = 0x4000_0000;

/// Calls that are blocked with any arguments. Rings create sockets without separate calls; keys
/// belong to the user and not to a namespace; the last two look into the kernel.
const REFUSED: &[i64] = &[
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
];

/// Which sockets a command may make.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Sockets {
    /// Those in files, and pairs.
    Files,
    /// Also internet sockets, and those that report routes. Sockets to virtual machines are in no
    /// network namespace, so they are never allowed.
    Internet,
}

impl Sockets {
    const fn families(self) -> &'static [i32] {
        match self {
            Self::Files => &[libc::AF_UNIX],
            Self::Internet => &[libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK],
        }
    }
}

/// Says why calls cannot be refused here, if they cannot.
pub(super) fn missing() -> Option<String> {
    program(Sockets::Files).err()
}

/// Refuses these calls to this process and its children, from now on.
pub(super) fn refuse(sockets: Sockets) -> Result<(), String> {
    seccompiler::apply_filter(&program(sockets)?).map_err(|error| error.to_string())
}

/// Returns the filter as bubblewrap reads it. It applies it to the first process of its
/// namespace too, which a command could otherwise make its calls with.
pub(super) fn written(sockets: Sockets) -> Result<Vec<u8>, String> {
    let program = program(sockets)?;
    let words = program.iter().flat_map(|word| {
        let [one, two] = word.code.to_ne_bytes();
        let [three, four, five, six] = word.k.to_ne_bytes();
        [one, two, word.jt, word.jf, three, four, five, six]
    });
    Ok(words.collect())
}

/// Returns the filter. Programs for another kind of machine, whose calls have other numbers,
/// are stopped by it.
fn program(sockets: Sockets) -> Result<BpfProgram, String> {
    let machine = TargetArch::try_from(ARCH).map_err(|error| error.to_string())?;
    build(machine, sockets).map_err(|error| error.to_string())
}

fn build(machine: TargetArch, sockets: Sockets) -> Result<BpfProgram, seccompiler::BackendError> {
    let other = || {
        let conditions = sockets.families().iter().map(|family| {
            let family = u64::from(family.unsigned_abs());
            SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, family)
        });
        SeccompRule::new(conditions.collect::<Result<_, _>>()?)
    };
    let mut rules = BTreeMap::new();
    for more in [0, X32] {
        for call in [libc::SYS_socket, libc::SYS_socketpair] {
            rules.insert(call.saturating_add(more), vec![other()?]);
        }
        for call in REFUSED {
            rules.insert(call.saturating_add(more), Vec::new());
        }
    }
    let refused = SeccompAction::Errno(libc::EACCES.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, refused, machine)?.try_into()
}
