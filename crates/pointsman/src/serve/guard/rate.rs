//! How often a client may do something: N at once, and M per second after.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use pointsman_runtime::clock::Stopwatch;

/// Clients with an allowance of their own. All others share one.
const CLIENTS: usize = 10_000;

/// How often there is made room for others.
const SWEEP: Duration = Duration::from_secs(1);

/// Limits each client, in bounded memory.
#[derive(Debug)]
pub(super) struct RateLimiter {
    burst: f64,
    per_second: f64,
    clock: Stopwatch,
    clients: Mutex<Allowances>,
}

#[derive(Debug, Default)]
struct Allowances {
    /// What each client has left, and when that was.
    left: HashMap<Option<IpAddr>, (f64, Duration)>,
    /// When there was last made room.
    swept: Duration,
}

impl RateLimiter {
    pub(super) fn new(burst: f64, per_second: f64) -> Self {
        Self { burst, per_second, clock: Stopwatch::start(), clients: Mutex::default() }
    }

    /// Takes one, or returns how long there will be none.
    pub(super) fn take(&self, client: IpAddr) -> Result<(), Duration> {
        self.take_at(client, self.clock.elapsed())
    }

    fn take_at(&self, client: IpAddr, now: Duration) -> Result<(), Duration> {
        let mut allowances = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let refilled = |(left, then): (f64, Duration)| {
            let passed = now.saturating_sub(then).as_secs_f64();
            (left + passed * self.per_second).min(self.burst)
        };
        let Allowances { left: clients, swept } = &mut *allowances;
        let mut client = Some(client);
        if clients.len() >= CLIENTS && !clients.contains_key(&client) {
            // A client with all of its allowance is as good as an unknown one. Looking at all of
            // them for every request would be work for those who flood.
            if now.saturating_sub(*swept) >= SWEEP {
                *swept = now;
                clients.retain(|_, kept| refilled(*kept) < self.burst);
            }
            if clients.len() >= CLIENTS {
                client = None;
            }
        }
        let kept = clients.entry(client).or_insert((self.burst, now));
        let left = refilled(*kept);
        let enough = left >= 1.0;
        *kept = (if enough { left - 1.0 } else { left }, now);
        if enough {
            return Ok(());
        }
        Err(Duration::try_from_secs_f64((1.0 - left) / self.per_second).unwrap_or(Duration::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(number: u32) -> IpAddr {
        std::net::Ipv4Addr::from_bits(number).into()
    }

    #[test]
    fn a_client_has_a_burst_and_then_a_rate_of_its_own() {
        let limiter = RateLimiter::new(3.0, 2.0);
        let at = Duration::from_millis;
        for _ in 0..3 {
            assert_eq!(limiter.take_at(ip(1), at(1_000)), Ok(()));
        }
        assert_eq!(limiter.take_at(ip(1), at(1_000)), Err(at(500)));
        assert_eq!(limiter.take_at(ip(2), at(1_000)), Ok(()));
        assert_eq!(limiter.take_at(ip(1), at(1_500)), Ok(()));
        assert!(limiter.take_at(ip(1), at(1_600)).is_err());
        // It never has more than the burst.
        for _ in 0..3 {
            assert_eq!(limiter.take_at(ip(1), at(60_000)), Ok(()));
        }
        assert!(limiter.take_at(ip(1), at(60_000)).is_err());
    }

    #[test]
    fn any_number_of_clients_takes_bounded_memory_and_all_stay_limited() {
        let limiter = RateLimiter::new(1.0, 1.0);
        let now = Duration::from_secs(1);
        for number in 0..30_000 {
            assert!(limiter.take_at(ip(number), now).is_ok() || number >= 10_000);
        }
        assert!(limiter.clients.lock().expect("it is whole").left.len() <= CLIENTS + 1);
        assert!(limiter.take_at(ip(40_000), now).is_err(), "those beyond share one allowance");
        // Once the others have all of theirs again, there is room.
        assert_eq!(limiter.take_at(ip(40_001), Duration::from_secs(3)), Ok(()));
        assert!(limiter.clients.lock().expect("it is whole").left.len() < 10);
    }
}
