//! Faults on purpose: in a development build `POINTSMAN_PLANT=no-epoch` breaks one rule of a fleet, so
//! that the `chaos` tier can show that its checker would notice. A release has none of them.

use std::{env, sync::OnceLock, time::Duration};

/// How long before its entry is written an effect starts, or an entry is acknowledged, or how long after
/// it a permit is given, where that fault is planted.
#[doc(hidden)]
pub const EARLY: Duration = Duration::from_millis(100);

/// Returns whether a fault is planted.
#[doc(hidden)]
pub fn is(fault: &str) -> bool {
    static PLANTED: OnceLock<Option<String>> = OnceLock::new();
    let planted = || PLANTED.get_or_init(|| env::var("POINTSMAN_PLANT").ok());
    cfg!(debug_assertions) && planted().as_deref() == Some(fault)
}
