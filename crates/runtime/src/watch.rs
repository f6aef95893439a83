//! The watch over the machine: when it runs short, starts are stopped for a while.
//!
//! Work in progress continues and its answers are taken; nothing new starts.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use crate::platform;

/// When to pause. A value without a limit is not watched.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceLimits {
    /// Per cent of the processors that may be busy.
    pub processor: Option<u8>,
    /// Per cent of the memory that may be in use.
    pub memory: Option<u8>,
    /// Bytes that must be free on the journal's disk.
    pub disk_free: Option<u64>,
    /// Time between two looks.
    pub every: Duration,
    /// The longest pause; after it the run continues in any case.
    pub longest: Duration,
}

impl Default for ResourceLimits {
    /// Memory and disk: low enough that a small disk does not pause every run, high enough for a
    /// journal to be finished. Busy processors do not endanger a single run, so they have no
    /// default limit.
    fn default() -> Self {
        Self {
            processor: None,
            memory: Some(85),
            disk_free: Some(200_000_000),
            every: Duration::from_secs(5),
            longest: Duration::from_mins(10),
        }
    }
}

/// How the machine is doing.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Vitals {
    /// Busy and all ticks of the processors since the start of the system.
    pub processor: Option<(u64, u64)>,
    /// Used and all memory, in any unit.
    pub memory: Option<(u64, u64)>,
    /// Bytes that are free on the disk.
    pub disk_free: Option<u64>,
}

/// A signal of the watch.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum PauseSignal {
    /// Stop starts, for this reason.
    Pause(String),
    /// Continue.
    Resume,
}

/// A shortage of the machine.
struct Shortage {
    /// The setting that says when.
    setting: &'static str,
    /// The measured value.
    why: String,
}

/// A watch over one machine.
#[derive(Clone, Debug)]
pub struct ResourceWatch {
    limits: ResourceLimits,
    folder: PathBuf,
    last: Option<Vitals>,
    /// For how long it has paused.
    paused: Option<Duration>,
}

impl ResourceWatch {
    /// Returns a watch; the folder selects the disk.
    pub fn new(limits: ResourceLimits, folder: &Path) -> Self {
        Self { limits, folder: folder.into(), last: None, paused: None }
    }

    /// Returns the time between two looks.
    pub const fn every(&self) -> Duration {
        self.limits.every
    }

    /// Checks the machine, and returns a signal if something has changed.
    pub fn look(&mut self) -> Option<PauseSignal> {
        let vitals = platform::vitals(&self.folder);
        self.judge(vitals)
    }

    /// Judges by the measured values.
    pub fn judge(&mut self, now: Vitals) -> Option<PauseSignal> {
        let short = self.shortage(&now);
        self.last = Some(now);
        match (short, self.paused) {
            (Some(why), None) => {
                self.paused = Some(Duration::ZERO);
                Some(PauseSignal::Pause(self.told(why)))
            }
            (Some(_), Some(paused)) => {
                let paused = paused.saturating_add(self.limits.every);
                // It stays noted as paused, so that the same shortage does not pause again.
                let over = paused >= self.limits.longest && paused < Duration::MAX;
                self.paused = Some(if over { Duration::MAX } else { paused });
                over.then_some(PauseSignal::Resume)
            }
            (None, Some(paused)) => {
                self.paused = None;
                (paused < Duration::MAX).then_some(PauseSignal::Resume)
            }
            (None, None) => None,
        }
    }

    /// Says why a run is paused, when the pause ends, and what else helps.
    fn told(&self, Shortage { setting, why }: Shortage) -> String {
        let longest = self.limits.longest.as_secs();
        let longest = match longest {
            0..60 => format!("{longest} s"),
            60..7200 => format!("{} min", longest / 60),
            _ => format!("{} h", longest / 3600),
        };
        format!(
            "{why}; the run resumes when this changes, after {longest} at the latest. Ctrl-C \
             cancels the run; `{setting}` in `[watch]` of the settings changes the limit"
        )
    }

    /// Returns the shortage of the machine.
    fn shortage(&self, now: &Vitals) -> Option<Shortage> {
        let short = |setting, why| Some(Shortage { setting, why });
        let percent = |part: u64, whole: u64| part.saturating_mul(100).checked_div(whole);
        if let (Some(limit), Some(free)) = (self.limits.disk_free, now.disk_free)
            && free < limit
        {
            let (free, limit) = (free / 1_000_000, limit / 1_000_000);
            let folder = self.folder.display();
            let why = format!(
                "{free} MB are free on the disk of {folder}, below the limit of {limit} MB"
            );
            return short("disk_free", why);
        }
        if let (Some(limit), Some((used, all))) = (self.limits.memory, now.memory)
            && let Some(used) = percent(used, all).filter(|used| *used > u64::from(limit))
        {
            let why = format!("{used} % of the memory is in use, above the limit of {limit} %");
            return short("memory", why);
        }
        let last = self.last.and_then(|last| last.processor);
        if let (Some(limit), Some((busy, all)), Some((busy_before, all_before))) =
            (self.limits.processor, now.processor, last)
        {
            let (busy, all) = (busy.saturating_sub(busy_before), all.saturating_sub(all_before));
            if let Some(busy) = percent(busy, all).filter(|busy| *busy > u64::from(limit)) {
                let why = format!("the processors are {busy} % busy, above the limit of {limit} %");
                return short("cpu", why);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch(limits: ResourceLimits) -> ResourceWatch {
        ResourceWatch::new(limits, Path::new("."))
    }

    fn memory(used: u64) -> Vitals {
        Vitals { memory: Some((used, 100)), ..Vitals::default() }
    }

    #[test]
    fn a_shortage_pauses_once_and_its_end_resumes() {
        let mut watch = watch(ResourceLimits::default());
        assert_eq!(watch.judge(memory(85)), None, "the limit itself is fine");
        assert!(
            matches!(watch.judge(memory(86)), Some(PauseSignal::Pause(why)) if why.contains("86 %"))
        );
        assert_eq!(watch.judge(memory(99)), None);
        assert_eq!(watch.judge(memory(50)), Some(PauseSignal::Resume));
        assert_eq!(watch.judge(memory(50)), None);
    }

    #[test]
    fn no_pause_is_longer_than_the_longest() {
        let limits =
            ResourceLimits { longest: Duration::from_secs(10), ..ResourceLimits::default() };
        let mut watch = watch(limits);
        let calls: Vec<_> = (0..6).map(|_| watch.judge(memory(99))).collect();
        assert!(matches!(calls.first(), Some(Some(PauseSignal::Pause(_)))));
        assert_eq!(calls.get(2), Some(&Some(PauseSignal::Resume)));
        assert!(calls.iter().skip(3).all(Option::is_none), "the same shortage pauses once");
        assert_eq!(watch.judge(memory(1)), None);
        assert!(matches!(watch.judge(memory(99)), Some(PauseSignal::Pause(_))), "a new one pauses");
    }

    #[test]
    fn processor_load_is_measured_between_two_checks() {
        let limits = ResourceLimits { processor: Some(80), ..ResourceLimits::default() };
        let mut watch = watch(limits);
        let ticks = |busy, all| Vitals { processor: Some((busy, all)), ..Vitals::default() };
        assert_eq!(watch.judge(ticks(900, 1_000)), None, "one look says nothing");
        assert_eq!(watch.judge(ticks(980, 1_100)), None);
        assert!(matches!(watch.judge(ticks(1_061, 1_200)), Some(PauseSignal::Pause(_))));
        assert_eq!(watch.judge(ticks(1_061, 1_200)), Some(PauseSignal::Resume), "no tick, no load");
    }

    #[test]
    fn a_full_disk_pauses() {
        let mut watch = watch(ResourceLimits::default());
        let disk = |free| Vitals { disk_free: Some(free), ..Vitals::default() };
        assert_eq!(watch.judge(disk(200_000_000)), None);
        let Some(PauseSignal::Pause(why)) = watch.judge(disk(199_999_999)) else {
            panic!("it pauses")
        };
        for part in ["199 MB", "200 MB", "after 10 min", "Ctrl-C", "`disk_free` in `[watch]`"] {
            assert!(why.contains(part), "{part}: {why}");
        }
    }

    #[test]
    fn this_machine_can_be_read() {
        let vitals = platform::vitals(Path::new("."));
        assert!(vitals.disk_free.is_some());
        if cfg!(target_os = "linux") {
            assert!(vitals.processor.is_some() && vitals.memory.is_some());
        }
    }
}
