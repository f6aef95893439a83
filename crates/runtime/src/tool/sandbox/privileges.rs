//! Gives up what root could do: capabilities, and every way to get them back.

use std::io;

use rustix::{
    io::Errno,
    thread::{
        CapabilitiesSecureBits, CapabilitySet, CapabilitySets, capabilities,
        clear_ambient_capability_set, remove_capability_from_bounding_set, set_capabilities,
        set_capabilities_secure_bits, set_no_new_privs,
    },
};

/// Drops all of them, for this process and everything that it executes.
pub(super) fn give_up() -> io::Result<()> {
    set_no_new_privs(true)?;
    if capabilities(None)?.effective.contains(CapabilitySet::SETPCAP) {
        for number in 0..u64::BITS {
            let one = CapabilitySet::from_bits_retain(1 << number);
            match remove_capability_from_bounding_set(one) {
                Ok(()) => {}
                // Behind the last one that the kernel knows.
                Err(Errno::INVAL) => break,
                Err(error) => return Err(error.into()),
            }
        }
        set_capabilities_secure_bits(locked())?;
    }
    clear_ambient_capability_set()?;
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, none)?;
    if capabilities(None)? == none {
        return Ok(());
    }
    Err(io::Error::other("capabilities cannot be dropped"))
}

/// Being root, or becoming it, grants nothing; and none of that can be changed.
fn locked() -> CapabilitiesSecureBits {
    CapabilitiesSecureBits::NO_ROOT
        | CapabilitiesSecureBits::NO_ROOT_LOCKED
        | CapabilitiesSecureBits::NO_SETUID_FIXUP
        | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
        | CapabilitiesSecureBits::KEEP_CAPS_LOCKED
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED
}
