//! A server with a certificate that it signed itself, as Debian sets it up.

use std::{env, fs, path::PathBuf, time::Duration};

use pointsman_fleet::{PostgresOptions, PostgresStore};
use pointsman_runtime::store::Store as _;
use tokio::time::{sleep, timeout};
use tokio_postgres::Client;

use super::Fresh;

const LIMIT: Duration = Duration::from_mins(1);

/// Makes a certificate in the folder of the server's data, which is where the server's programs run.
const CERTIFICATE: &str = "COPY (SELECT) TO PROGRAM 'openssl req -x509 -newkey rsa:2048 -nodes -days 2 \
     -subj /CN=fleet -addext subjectAltName=IP:127.0.0.1 -keyout tls.key -out tls.crt 2>tls.log \
     && chmod 600 tls.key'";

/// Removes a file when it is no longer needed.
struct File(PathBuf);

impl Drop for File {
    fn drop(&mut self) {
        // A file that is left lies in the folder for such files.
        drop(fs::remove_file(&self.0));
    }
}

/// Switches encryption, and waits until the server has done so.
async fn set(client: &Client, on: bool) {
    let value = if on { "on" } else { "off" };
    for sql in [
        "ALTER SYSTEM SET ssl_cert_file = 'tls.crt'".to_owned(),
        "ALTER SYSTEM SET ssl_key_file = 'tls.key'".to_owned(),
        format!("ALTER SYSTEM SET ssl = {value}"),
        "SELECT pg_reload_conf()".to_owned(),
    ] {
        client.batch_execute(&sql).await.expect("it is set");
    }
    let is_set = async {
        loop {
            let row = client.query_one("SELECT current_setting('ssl')", &[]).await;
            if row.expect("it is read").get::<_, &str>(0) == value {
                return;
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(LIMIT, is_set).await.expect("the server reads its settings again");
}

/// Opens a store, and returns whether its connections are encrypted.
async fn opened(client: &Client, url: &str) -> Result<bool, String> {
    let options = PostgresOptions { heartbeats: false, ..PostgresOptions::default() };
    let store = PostgresStore::open(url, options).await;
    let store = store.map_err(|error| error.to_string())?;
    store.health().await.map_err(|error| error.to_string())?;
    let row = client
        .query_one(
            "SELECT bool_and(s.ssl), count(*) FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid)
             WHERE a.datname = current_database() AND a.application_name = 'pointsman'",
            &[],
        )
        .await
        .expect("it is read");
    assert!(row.get::<_, i64>(1) > 0, "{url} has no connection");
    drop(store);
    let closed = async {
        let sql = "SELECT count(*) FROM pg_stat_activity
                   WHERE datname = current_database() AND application_name = 'pointsman'";
        while client.query_one(sql, &[]).await.expect("it is read").get::<_, i64>(0) > 0 {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(LIMIT, closed).await.expect("its connections are closed");
    Ok(row.get(0))
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn certificates_are_checked_as_far_as_the_address_asks() {
    let fresh = Fresh::alone().await;
    let client = fresh.client().await;
    client.batch_execute(CERTIFICATE).await.expect("the certificate is made");
    let row = client.query_one("SELECT pg_read_file('tls.crt')", &[]).await.expect("it is read");
    let file = File(env::temp_dir().join(format!("{}.pem", fresh.name)));
    fs::write(&file.0, row.get::<_, &str>(0)).expect("it is written");
    set(&client, true).await;
    let here = fresh.direct.clone();
    let named = here.replace("127.0.0.1", "localhost");
    let root = format!("sslrootcert={}", file.0.display());
    let mut seen = Vec::new();
    for url in [
        here.clone(),
        format!("{here}?sslmode=disable"),
        format!("{here}?sslmode=require"),
        format!("{here}?sslmode=require&{root}"),
        format!("{here}?sslmode=verify-full&{root}"),
        format!("{named}?sslmode=verify-ca&{root}"),
        format!("{named}?sslmode=verify-full&{root}"),
        format!("{here}?sslmode=verify-full"),
    ] {
        seen.push(opened(&client, &url).await);
    }
    set(&client, false).await;
    seen.push(opened(&client, &here).await);
    seen.push(opened(&client, &format!("{here}?sslmode=require")).await);
    let encrypted: Vec<Option<bool>> = seen.iter().map(|it| it.as_ref().ok().copied()).collect();
    let (yes, no) = (Some(true), Some(false));
    assert_eq!(encrypted, [yes, no, yes, yes, yes, yes, None, None, no, None], "{seen:?}");
    for (at, says) in [
        (6, "or `sslmode=verify-ca`"),
        (7, "`sslrootcert=FILE`, or use `sslmode=require`"),
        (9, "does not support TLS"),
    ] {
        let why = seen[at].as_ref().expect_err("it is refused");
        assert!(why.contains(says), "{why}");
    }
}
