//! The pulse of a storm: a request to the server, again and again. What it loses is what a busy machine,
//! or a server that is down, may cost everyone else.

use std::{
    sync::{Arc, Mutex, PoisonError, Weak},
    thread,
    time::Duration,
};

use anyhow::{Context, Result};
use pointsman_runtime::{
    clock::boot_ms,
    store::{Filter, Page, Store as _},
};

use super::watch::open;

/// The time between two beats, if nothing is slow.
const BEAT: Duration = Duration::from_millis(100);
/// Runs that a beat reads: as much work as a claim.
const ROWS: usize = 24;

/// A thread that beats until this value is dropped.
pub(super) struct Pulse(Arc<Beats>);

/// When each request was answered, by the boot clock.
type Beats = Mutex<Vec<u64>>;

impl Pulse {
    /// Starts to beat, straight against a server.
    pub(super) fn start(url: &str) -> Result<Self> {
        let beats = Arc::<Beats>::default();
        let (url, kept) = (url.to_owned(), Arc::downgrade(&beats));
        // What else this process does must not slow it down.
        let own = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let own = own.context("starting a pulse")?;
        thread::spawn(move || own.block_on(beat(&url, &kept)));
        Ok(Self(beats))
    }

    /// Returns all beats until now.
    pub(super) fn beats(&self) -> Vec<u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns how many there were: a clock that stands still with the machine.
    pub(super) fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

async fn beat(url: &str, kept: &Weak<Beats>) {
    let store = open(url, None).await;
    loop {
        let answered = store.list(&Filter::default(), &Page::first(ROWS)).await.is_ok();
        let Some(beats) = kept.upgrade() else { return };
        if answered {
            beats.lock().unwrap_or_else(PoisonError::into_inner).push(boot_ms());
        }
        drop(beats);
        tokio::time::sleep(BEAT).await;
    }
}

/// Returns how much later the beats between two moments were than they should have been, in all.
pub(super) fn lost_ms(beats: &[u64], from: u64, to: u64) -> u64 {
    let beat = u64::try_from(BEAT.as_millis()).unwrap_or(u64::MAX);
    // Before the first beat, and after the last, nothing is known to be well.
    let moments = [0].into_iter().chain(beats.iter().copied()).chain([u64::MAX]);
    let mut before = 0;
    let mut lost = 0;
    for next in moments {
        if next > from && before < to {
            let part = next.min(to).saturating_sub(before.max(from));
            lost += part.min(next.saturating_sub(before).saturating_sub(beat));
        }
        before = next;
    }
    lost
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_beats_are_counted_within_the_window_alone() {
        let beats = [1_000, 1_100, 1_210, 3_310, 3_410];
        assert_eq!(lost_ms(&beats, 1_000, 1_210), 10);
        assert_eq!(lost_ms(&beats, 1_000, 3_410), 2_010);
        // The part of a long gap that lies in the window.
        assert_eq!(lost_ms(&beats, 2_310, 3_410), 1_000);
        assert_eq!(lost_ms(&beats, 1_000, 1_710), 510);
        assert_eq!(lost_ms(&beats, 3_310, 3_410), 0);
    }

    #[test]
    fn a_pulse_that_never_beats_has_lost_everything() {
        assert_eq!(lost_ms(&[], 1_000, 4_000), 3_000);
        assert_eq!(lost_ms(&[1_000], 1_000, 4_000), 3_000);
    }
}
