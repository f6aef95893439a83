//! `pointsman serve`: runs over HTTP.

use std::{net::SocketAddr, path::PathBuf, process::ExitCode};

use clap::Args;

use crate::{
    paths::{self, Globals},
    report::Error,
    serve::{self, ServeOptions},
};

/// Serve runs over HTTP, for programs that start, follow and steer them.
#[derive(Args, Debug)]
#[command(after_help = "\
With a journal file the server drives the runs that it starts, up to `--jobs` at a time. With
`--store` it only queues them, and `pointsman worker` drives them.

Requests that change something need a token: `pointsman token create --role operate`. If the server
listens on an address other than loopback, every request needs one. docs/api-security.md has the
details.

The server describes itself at /openapi.json; docs/api.md has examples. Ctrl-C or SIGTERM stops it:
requests and steps in progress finish first, and the next `pointsman serve` resumes the runs.

Examples:
  pointsman serve
  pointsman serve --listen 127.0.0.1:8080 --jobs 8
  pointsman serve --store postgres://pointsman@db.example/pointsman
  pointsman serve --read-only
  curl http://127.0.0.1:7100/api/v1/runs")]
pub(crate) struct Serve {
    /// The address to listen on; port 0 means any free port [default: 127.0.0.1:7100].
    #[arg(long, value_name = "ADDR:PORT")]
    listen: Option<SocketAddr>,
    /// How many runs to drive at a time; 0 for none [default: 4].
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Refuse every request that changes something, and drive no runs.
    #[arg(long)]
    read_only: bool,
    /// Also answer requests for this host name, such as a proxy's. All requests then need a token.
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,
    /// Serve HTTPS with this certificate chain, a PEM file.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The private key of the certificate, a PEM file.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
}

impl Serve {
    pub(crate) fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        let config = paths::user()?;
        let mut options = ServeOptions::of(&config.serve)?;
        options.listen = self.listen.unwrap_or(options.listen);
        options.read_only = self.read_only;
        options.jobs = self.jobs.or(options.jobs).filter(|jobs| *jobs > 0);
        let database = globals.database(&config).is_some();
        if self.read_only || database {
            options.jobs = None;
        }
        if !database {
            let mut file = globals.journal(&config)?.into_os_string();
            file.push(".summaries");
            options.summaries = Some(file.into());
        }
        options.tls = self.tls_cert.zip(self.tls_key).or(options.tls);
        options.guard.allow_hosts.extend(self.allow_host);
        serve::run(globals.shared_session(&config)?, options, globals.tokens(&config)?)?;
        Ok(ExitCode::SUCCESS)
    }
}
