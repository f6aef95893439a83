//! `pointsman doctor`: what works on this machine, what does not, and what to do.

mod appium;
mod probe;
mod reach;
mod sandbox;

use std::{fmt::Write as _, io, path::Path, process::ExitCode, time::Duration};

use clap::Args;
use console::style;
use pointsman_runtime::{
    config::Config,
    mcp,
    model::Provider,
    session::{Session, sqlite_version},
    store::Health,
    watch,
};
use pointsman_webdriver::{browser, settings};
use serde::Serialize;
use serde_json::json;

use super::run::json_line;
use crate::{
    drive::Drive,
    format,
    paths::{self, Globals, user_file, variable},
    report::{self, Error},
};

/// How long a program or a server has to answer.
const LIMIT: Duration = Duration::from_secs(2);

/// Check this machine, and say how to fix any problem.
#[derive(Args, Debug)]
#[command(
    mut_arg("record", |arg| arg.hide(true)),
    mut_arg("replay", |arg| arg.hide(true)),
    mut_arg("dir", |arg| arg.help("The folder to check [default: this one]")),
    mut_arg("model", |arg| arg.help("The model to check [env: `POINTSMAN_MODEL`] [default: quote]")),
    mut_arg("mcp", |arg| arg.help("Treat this server of the folder's `.mcp.json` as approved")),
    mut_arg("json", |arg| arg.help("Print JSON: one object with all checks")),
    after_help = "\
The command tests each folder by creating and removing a file in it. The command changes nothing
else, asks no model, and checks only whether the variables for keys are set. Exits with 1 when a
check fails; a warning is not a failure.

Examples:
  pointsman doctor
  pointsman doctor --model openai:gpt-5-mini --json"
)]
pub(crate) struct Doctor {
    #[command(flatten)]
    drive: Drive,
}

/// How a check came out.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Ok,
    Warn,
    Fail,
}

/// One check.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    status: Status,
    detail: String,
    hint: Option<String>,
}

impl Check {
    fn ok(name: &'static str, detail: impl Into<String>) -> Self {
        Self { name, status: Status::Ok, detail: detail.into(), hint: None }
    }

    fn warn(name: &'static str, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { name, status: Status::Warn, detail: detail.into(), hint: Some(hint.into()) }
    }

    fn fail(name: &'static str, error: &Error) -> Self {
        Self { name, status: Status::Fail, detail: report::whole(error), hint: error.hint() }
    }
}

impl Doctor {
    pub(crate) fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        let mut checks = Vec::new();
        let config = self.drive.over(configuration(self.drive.dir(), &mut checks));
        journal(globals, &config, &mut checks);
        checks.push(Check::ok("sqlite", sqlite_version()));
        model(&config, &mut checks);
        self.sandbox(&config, &mut checks);
        checks.push(match reach::version("git", LIMIT) {
            Ok(version) => Check::ok("git", version),
            Err(why) => Check::warn("git", why, "install git: the `git` tool needs it"),
        });
        browser(&config, &mut checks);
        appium::checks(&config.explore, &mut checks);
        self.servers(&config, &mut checks);
        let failed = checks.iter().any(|check| check.status == Status::Fail);
        if self.drive.json {
            json_line(&json!({ "ok": !failed, "checks": checks }))?;
        } else {
            report::data(&told(&checks))?;
        }
        Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }

    fn servers(&self, config: &Config, checks: &mut Vec<Check>) {
        let Some(file) = mcp::McpServerList::find(self.drive.dir()) else {
            return checks.push(Check::ok("mcp", "no .mcp.json here"));
        };
        let approved = match self.drive.servers(&config.mcp) {
            Ok(approved) => approved.map(|approved| approved.names).unwrap_or_default(),
            Err(error) => return checks.push(Check::fail("mcp", &error)),
        };
        let listed = match mcp::McpServerList::read(&file) {
            Ok(listed) => listed,
            Err(error) => return checks.push(Check::fail("mcp", &Error::Mcp(error))),
        };
        for (_, error) in listed.wrong() {
            checks.push(Check::warn("mcp", error.to_string(), "correct the entry, or remove it"));
        }
        for name in listed.names() {
            if approved.iter().any(|it| it == name) {
                checks.push(Check::ok("mcp", format!("{name} is approved")));
            } else {
                let would = listed.summary(name).unwrap_or_default();
                let key = listed.key(name).unwrap_or_default();
                checks.push(Check::warn(
                    "mcp",
                    format!("{name} is not approved; it would {would}"),
                    format!(
                        "if you trust it, approve it for one run with `--mcp {name}`, or permanently \
                         with `approve = [{key:?}]` in `[mcp]` of your own settings file"
                    ),
                ));
            }
        }
    }
}

/// Looks at the model that would be asked, and whether it can be.
fn model(config: &Config, checks: &mut Vec<Check>) {
    let keys = Provider::ALL.iter().flat_map(|provider| provider.key_variables());
    let mut set: Vec<&str> = keys.copied().filter(|name| variable(name).is_some()).collect();
    set.dedup();
    let set = if set.is_empty() { "no key is set".into() } else { set.join(", ") };
    let settings = match config.model.settings(&variable).map_err(Error::Model) {
        Ok(settings) => settings,
        Err(error) => return checks.push(Check::fail("model", &error)),
    };
    let needs = settings.spec.provider().key_variables();
    let keyless = needs.is_empty() || settings.spec.provider() == Provider::OpenAiCompatible;
    checks.push(if keyless || settings.key.is_some() {
        Check::ok("model", settings.spec.to_string())
    } else {
        let hint = format!(
            "set {}; for another server, also set its base URL in the environment",
            needs.join(" or ")
        );
        let detail = format!("{} needs a key", settings.spec);
        Check { status: Status::Fail, ..Check::warn("model", detail, hint) }
    });
    checks.push(Check::ok("keys", set));
    // A provider's own address is not tested: the user has not chosen it.
    let own = settings.spec.provider().own_base();
    let named = settings
        .base_url
        .filter(|url| settings.spec.provider() == Provider::Ollama || own != Some(url.as_str()));
    if let Some(url) = named {
        checks.push(match reach::server(&url, LIMIT) {
            Ok(()) => Check::ok("server", format!("{url} answers")),
            Err(why) => {
                let hint = "start the server, or give another `--base-url`";
                let detail = format!("{url}: {why}");
                Check { status: Status::Fail, ..Check::warn("server", detail, hint) }
            }
        });
    }
}

/// Looks for the programs that only `form` needs, so a missing one is not a failure.
fn browser(config: &Config, checks: &mut Vec<Check>) {
    let mut versions = Vec::new();
    for program in browser::programs(&settings::browser(&config.form)) {
        checks.push(match program.found {
            Ok(path) => match reach::version(&path.display().to_string(), LIMIT * 5) {
                Ok(version) => {
                    let version = version.split(" (").next().unwrap_or_default().trim().to_owned();
                    let number = version.split_whitespace().find(|word| word.contains('.'));
                    versions.extend(number.and_then(|it| it.split('.').next()).map(str::to_owned));
                    Check::ok(program.name, format!("{version}, {}", path.display()))
                }
                Err(why) => Check::warn(program.name, why, "`run form` needs it: reinstall it"),
            },
            Err(error) => {
                Check::warn(program.name, error.to_string(), error.hint().unwrap_or_default())
            }
        });
    }
    if let [driver, browser] = versions.as_slice()
        && driver != browser
    {
        let detail = format!("chromedriver {driver} does not match Chromium {browser}");
        checks.push(Check::warn("browser", detail, "install the same version of both"));
    }
}

/// Reads both files; where they have mistakes, the rest is checked without them.
fn configuration(dir: &Path, checks: &mut Vec<Check>) -> Config {
    match paths::settled(dir) {
        Ok(settled) => {
            let told = |path: Option<&Path>, none: String| {
                path.map_or(none, |path| path.display().to_string())
            };
            let place = user_file().map(|file| file.display().to_string());
            let none = format!("none yet; the location is {}", place.unwrap_or_default());
            checks.push(Check::ok("user file", told(settled.user.as_deref(), none)));
            let none = "none in this folder or above".into();
            checks.push(Check::ok("repository file", told(settled.repository.as_deref(), none)));
            settled.config
        }
        Err(error) => {
            let hint = "correct the file; `pointsman run chat --dry-run` lists every mistake";
            let detail = report::whole(&error);
            checks
                .push(Check { status: Status::Fail, ..Check::warn("configuration", detail, hint) });
            Config::default()
        }
    }
}

fn journal(globals: &Globals, config: &Config, checks: &mut Vec<Check>) {
    let path = match globals.journal(config) {
        Ok(path) => path,
        Err(error) => return checks.push(Check::fail("journal", &error)),
    };
    let database = globals.database(config);
    if database.is_some() || path.exists() {
        let opened = globals.session_with(config).and_then(|session: Session| {
            let store = session.store();
            let looked = async { Ok((store.check().await?, store.health().await?)) };
            session.block_on(looked).map_err(Error::Store)
        });
        checks.push(match opened {
            Ok((damaged, Health { runs, .. })) => match damaged.into_iter().next() {
                None if database.is_some() => {
                    let runs = format::counted(runs, "run");
                    Check::ok("journal", format!("in PostgreSQL, {runs}"))
                }
                None => match probe::writable(&path) {
                    Ok(()) => Check::ok("journal", kept(&path, runs)),
                    Err((folder, error)) => unwritable("journal", &folder, &error, JOURNAL),
                },
                Some(error) => Check::fail("journal", &Error::Store(error)),
            },
            Err(error) => Check::fail("journal", &error),
        });
    } else if let Err((folder, error)) = probe::writable(&path) {
        checks.push(unwritable("journal", &folder, &error, JOURNAL));
    } else {
        let detail = format!("{} does not exist yet; the first run creates it", path.display());
        checks.push(Check::ok("journal", detail));
    }
    index(checks);
    let wanted =
        config.watch.disk_free.or_else(|| watch::ResourceLimits::default().disk_free).unwrap_or(0);
    let folder = path.ancestors().skip(1).find(|folder| folder.is_dir());
    let free = folder.and_then(|folder| rustix::fs::statvfs(folder).ok());
    let free = free.map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize));
    checks.push(match free {
        Some(free) if free < wanted => Check::warn(
            "disk",
            format!("{} MB free, but runs pause below {} MB", free / 1_000_000, wanted / 1_000_000),
            "free some space, or lower `disk_free` of `[watch]`",
        ),
        Some(free) => Check::ok("disk", format!("{} MB free", free / 1_000_000)),
        None => Check::warn("disk", "the free space is unknown", "check the journal's disk"),
    });
}

/// What to do where journals cannot be written.
const JOURNAL: &str = "make it writable, or set POINTSMAN_JOURNAL to another file";

fn kept(path: &Path, runs: u64) -> String {
    format!("{}, {}", path.display(), format::counted(runs, "run"))
}

fn unwritable(name: &'static str, folder: &Path, error: &io::Error, hint: &str) -> Check {
    let detail = format!("cannot write in {}: {error}", folder.display());
    Check { status: Status::Fail, ..Check::warn(name, detail, hint) }
}

/// Looks whether the search index can be kept.
fn index(checks: &mut Vec<Check>) {
    let path = match paths::cache() {
        Ok(folder) => folder.join("index.db"),
        Err(error) => return checks.push(Check::fail("index", &error)),
    };
    checks.push(match probe::writable(&path) {
        Ok(()) => Check::ok("index", path.parent().unwrap_or(&path).display().to_string()),
        Err((folder, error)) => {
            let hint = "make it writable, or set XDG_CACHE_HOME to another folder";
            unwritable("index", &folder, &error, hint)
        }
    });
}

fn told(checks: &[Check]) -> String {
    let mut text = String::new();
    for check in checks {
        let status = match check.status {
            Status::Ok => style("ok  ").green(),
            Status::Warn => style("warn").yellow(),
            Status::Fail => style("fail").red(),
        };
        // Writing to a string cannot fail.
        let _: std::fmt::Result = writeln!(text, "{status}  {:<15}  {}", check.name, check.detail);
        if let Some(hint) = &check.hint {
            let _: std::fmt::Result = writeln!(text, "{:23}{hint}", "");
        }
    }
    text
}
