//! What landlock does not know of the network: sockets other than TCP's. The kernel is told
//! to make none but those that stay on this machine's files.

use std::{collections::BTreeMap, env::consts::ARCH};

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

/// Added to the number of a call where it is made as x32 programs make it. Other machines
/// have no call with such a number.
const X32: i64 = 0x4000_0000;

/// Says why sockets cannot be shut off here, if they cannot.
pub(super) fn missing() -> Option<String> {
    program().err()
}

/// Lets this process and its children make no socket but in files, from now on.
pub(super) fn shut_off() -> Result<(), String> {
    seccompiler::apply_filter(&program()?).map_err(|error| error.to_string())
}

/// Returns the filter. Programs for another kind of machine, whose calls have other numbers,
/// are stopped by it.
fn program() -> Result<BpfProgram, String> {
    let machine = TargetArch::try_from(ARCH).map_err(|error| error.to_string())?;
    build(machine).map_err(|error| error.to_string())
}

fn build(machine: TargetArch) -> Result<BpfProgram, seccompiler::BackendError> {
    let unix = u64::from(libc::AF_UNIX.unsigned_abs());
    let other = || {
        let family = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, unix)?;
        SeccompRule::new(vec![family])
    };
    let mut rules = BTreeMap::new();
    for more in [0, X32] {
        rules.insert(libc::SYS_socket.saturating_add(more), vec![other()?]);
        // A ring makes sockets without a call of its own for each.
        rules.insert(libc::SYS_io_uring_setup.saturating_add(more), Vec::new());
    }
    let refused = SeccompAction::Errno(libc::EACCES.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, refused, machine)?.try_into()
}
