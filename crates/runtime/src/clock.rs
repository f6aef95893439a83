//! The only calls to the clock, and the only source of randomness.
#![expect(clippy::disallowed_methods, reason = "here, and nowhere else")]

use std::{
    sync::OnceLock,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use pointsman_kernel::id::At;

use crate::{platform, store::RunId};

/// Returns the milliseconds since 1970.
pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX).saturating_add_signed(set_ahead_ms())
}

/// Returns how far `POINTSMAN_CLOCK_AHEAD`, in seconds, sets a development build's clock ahead, or
/// behind if it is negative: a test of clocks that differ.
fn set_ahead_ms() -> i64 {
    static AHEAD: OnceLock<i64> = OnceLock::new();
    let read = || {
        let seconds = std::env::var("POINTSMAN_CLOCK_AHEAD").ok();
        seconds
            .and_then(|seconds| seconds.parse::<i64>().ok())
            .map_or(0, |it| it.saturating_mul(1_000))
    };
    if cfg!(debug_assertions) { *AHEAD.get_or_init(read) } else { 0 }
}

/// Returns a moment to the second, in universal time, for people.
pub fn written(ms: u64) -> String {
    let seconds = i64::try_from(ms / 1000).unwrap_or(i64::MAX / 1000);
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days since the first of March of the year 0, in spans of 400 years.
    let days = days + 719_468;
    let (span, of_span) = (days / 146_097, days % 146_097);
    let year = (of_span - of_span / 1460 + of_span / 36_524 - of_span / 146_096) / 365;
    let of_year = of_span - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = span * 400 + year + i64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Measures a run's time from its first entry. It never goes back. The system's clock is read once, so
/// setting it later neither fires timeouts nor stops them; time asleep counts.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin_ms: u64,
    last: At,
    /// The run's time when this clock was made, and that by [`boot_ms`].
    made: (At, u64),
}

impl Clock {
    /// Returns a clock for a run that was begun at a time and last seen at another.
    /// The system's clock is so far ahead of the store's: runs do not age because one machine's clock
    /// is wrong.
    pub fn new(origin_ms: u64, last: At, ahead_ms: i64) -> Self {
        let last = last.max(since(origin_ms, ahead_ms));
        Self { origin_ms, last, made: (last, boot_ms()) }
    }

    /// Returns the time now.
    pub fn now(&mut self) -> At {
        self.last = self.seen();
        self.last
    }

    /// Returns a time of the run in milliseconds since 1970.
    pub const fn wall(&self, at: At) -> u64 {
        self.origin_ms.saturating_add(at.0)
    }

    /// Returns a time of the run, given in milliseconds since 1970.
    pub const fn at(&self, wall_ms: u64) -> At {
        At(wall_ms.saturating_sub(self.origin_ms))
    }

    /// Returns how long it is until a time.
    pub fn until(&self, at: At) -> Duration {
        Duration::from_millis(at.since(self.seen()))
    }

    fn seen(&self) -> At {
        let (at, made) = self.made;
        let passed = boot_ms().saturating_sub(made);
        self.last.max(At(at.0.saturating_add(passed)))
    }
}

/// Returns the time since a moment, by a clock that ours is so far ahead of.
fn since(origin_ms: u64, ahead_ms: i64) -> At {
    At(now_ms().saturating_sub_signed(ahead_ms).saturating_sub(origin_ms))
}

/// The time since a start: for every wait with a limit.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts one.
    pub fn start() -> Self {
        Self(instant())
    }

    /// Returns the time since its start.
    pub fn elapsed(&self) -> Duration {
        instant().saturating_duration_since(self.0)
    }
}

/// Returns a monotonic time, for comparisons within this process.
pub fn instant() -> Instant {
    Instant::now()
}

/// Returns the time that a file would be stamped with now: seconds and nanoseconds since 1970.
pub(crate) fn file_time() -> (i64, i64) {
    let now = rustix::time::clock_gettime(platform::FILES);
    (now.tv_sec, now.tv_nsec)
}

/// Returns the milliseconds since the machine was started. Setting the clock does not change
/// them, and time asleep counts.
pub fn boot_ms() -> u64 {
    let now = rustix::time::clock_gettime(platform::BOOT);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    seconds.saturating_mul(1000).saturating_add(u64::try_from(now.tv_nsec).unwrap_or(0) / 1_000_000)
}

/// Returns 64 unpredictable bits.
///
/// # Panics
///
/// On a system without randomness, where nothing could be kept safe.
pub fn entropy() -> u64 {
    getrandom::u64().expect("the system gives random numbers")
}

/// The digits of run ids.
const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// How many an id has.
const LETTERS_OF_ID: usize = 18;

/// Returns when an id was made, in milliseconds since 1970; nothing for one that was not
/// made here.
pub(crate) fn made_ms(id: &RunId) -> Option<u64> {
    let digit = |byte: u8| LETTERS.iter().position(|it| *it == byte);
    let bits = id.as_str().bytes().try_fold(0_u128, |bits, byte| {
        bits.checked_mul(32)?.checked_add(u128::try_from(digit(byte)?).ok()?)
    })?;
    let whole = id.as_str().len() == LETTERS_OF_ID;
    u64::try_from(bits >> 40).ok().filter(|_| whole)
}

/// Returns a new run id: letters and digits that sort by time.
pub fn new_run_id() -> RunId {
    run_id_at(now_ms())
}

/// Returns a new run id for a time in milliseconds since 1970.
pub(crate) fn run_id_at(ms: u64) -> RunId {
    let mut bits = (u128::from(ms) << 40) | u128::from(entropy() & 0xff_ffff_ffff);
    let mut text = [b'0'; LETTERS_OF_ID];
    for letter in text.iter_mut().rev() {
        let at = usize::try_from(bits % 32).unwrap_or(0);
        *letter = LETTERS.get(at).copied().unwrap_or(b'0');
        bits /= 32;
    }
    RunId::from_letters(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_tells_when_it_was_made() {
        let before = now_ms();
        let made = made_ms(&new_run_id()).expect("it tells");
        assert!((before..=now_ms()).contains(&made), "{made}");
        for other in ["mine", "01m7grje5w1xm5mmwk-1-0", "01m7grje5w1xm5mmwu", "0"] {
            assert_eq!(made_ms(&other.parse().expect("the text is a run id")), None, "{other}");
        }
    }

    #[test]
    fn clock_ahead_of_the_store_ages_no_run() {
        let begun = now_ms() - 600_000;
        assert!(Clock::new(begun, At(0), 0).now() >= At(600_000));
        assert!(Clock::new(begun, At(0), 600_000).now() < At(300_000));
        assert!(Clock::new(now_ms() + 600_000, At(0), -600_000 - 7).now() >= At(7));
    }

    #[test]
    fn clock_that_is_set_during_a_run_fires_no_timeout() {
        let clock = Clock::new(now_ms(), At(0), 0);
        // By the system's clock, all of it is ten minutes longer ago.
        let mut set = Clock { origin_ms: clock.origin_ms - 600_000, ..clock };
        assert!(set.now() < At(300_000));
        assert!(set.until(At(600_000)) > Duration::from_mins(4));
    }

    #[test]
    fn clock_never_goes_back() {
        // The system says that the run will begin in an hour.
        let mut clock = Clock::new(now_ms() + 3_600_000, At(500), 0);
        let deadline = At(520);
        while clock.now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(clock.until(deadline).is_zero() && clock.now() < At(3_600_000));
    }
}
