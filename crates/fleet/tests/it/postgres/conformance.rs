//! The store keeps the rules of stores, with and without a pooler between.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use pointsman_fleet::{PostgresOptions, PostgresStore};
use pointsman_runtime::store::{RunId, Store};
use pointsman_testing::conformance::{Bench, check};

use super::Fresh;

const LASTS: Duration = Duration::from_mins(5);

struct Postgres {
    fresh: Fresh,
    url: String,
    options: PostgresOptions,
}

#[async_trait]
impl Bench for Postgres {
    async fn open(&self) -> Arc<dyn Store> {
        let store = PostgresStore::open(&self.url, self.options.clone()).await;
        Arc::new(store.expect("it opens"))
    }

    /// Has the lease expire.
    async fn kill(&self, run: &RunId) {
        let expire = "UPDATE pointsman.run SET expires_ms = 0 WHERE id = $1";
        let client = self.fresh.client().await;
        let killed = client.execute(expire, &[&run.as_str()]).await.expect("it expires");
        assert_eq!(killed, 1);
    }

    /// Has all times be as much earlier.
    async fn advance(&self, time: Duration) {
        let ms = i64::try_from(time.as_millis()).expect("it is not as long");
        let client = self.fresh.client().await;
        for earlier in [
            "UPDATE pointsman.run SET expires_ms = expires_ms - $1, wake_at = wake_at - $1",
            "UPDATE pointsman.gate SET until_ms = until_ms - $1",
        ] {
            client.execute(earlier, &[&ms]).await.expect("it is later");
        }
    }

    fn lasts(&self) -> Option<Duration> {
        Some(LASTS)
    }
}

async fn keeps_the_rules(pooled: bool) {
    let fresh = Fresh::new().await;
    let url = if pooled { fresh.pooled() } else { fresh.direct.clone() };
    let options = PostgresOptions {
        connections: 4,
        lease: LASTS,
        heartbeats: false,
        poll: Duration::from_millis(20),
        ..PostgresOptions::default()
    };
    let bench = Postgres { fresh, url, options };
    check(&bench).await.unwrap_or_else(|broken| panic!("{broken}"));
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn journals_in_postgresql_keep_the_rules() {
    keeps_the_rules(false).await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn journals_behind_a_pooler_keep_the_rules() {
    keeps_the_rules(true).await;
}
