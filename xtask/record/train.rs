//! A train that keeps to its signals.

use crate::signal::Signal;

/// Moves a train by a block, if it may.
pub fn advance(block: u32, signal: Signal) -> u32 {
    if signal.stops() { block } else { block + 1 }
}
