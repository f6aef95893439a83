//! A home with a profile, a site with pages, another site, and the program between them.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use pointsman_testing::site::{HttpReply, Request, Site};
use serde_json::{Value, json};

use crate::home::Home;

/// How long a run may take: a page that never stops changing takes the longest.
const LIMIT: Duration = Duration::from_mins(5);
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);
/// How late the states of a country come.
const LATE: Duration = Duration::from_millis(400);

/// What everybody here is called, unless a test says otherwise.
pub(super) const ADA: &str = r#"
given-name = "Ada"
family-name = "Lovelace"
email = "ada@example.org"
tel = "+44 20 7946 0958"
country = "GB"
bday = "1985-02-03"
"#;

pub(super) struct Rig {
    pub(super) home: Home,
    pub(super) site: Site,
    /// A site that is none of ours to fill.
    pub(super) elsewhere: Site,
    /// Whether the pages that wait for it are to change.
    changes: Arc<AtomicBool>,
}

/// What a run came to.
pub(super) struct Ran {
    pub(super) code: Option<i32>,
    pub(super) out: String,
    pub(super) err: String,
}

impl Rig {
    pub(super) fn new(name: &str, profile: &str) -> Self {
        let home = Home::new(&format!("form-{name}"));
        home.write("profile.toml", profile);
        // The message about a profile that others can read must not depend on our umask.
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o644);
        fs::set_permissions(home.path("profile.toml"), open)
            .expect("the owner may set permissions");
        let elsewhere = Site::start(|request| answer(request, "")).expect("it listens");
        let there = elsewhere.url("");
        let changes = Arc::new(AtomicBool::new(false));
        let is_time = Arc::clone(&changes);
        let site = Site::start(move |request| match request.path.as_str() {
            "/is-time" => HttpReply::json(&json!(is_time.load(Relaxed))),
            _ => answer(request, &there),
        });
        Self { home, site: site.expect("it listens"), elsewhere, changes }
    }

    /// Lets the page change that waits for it, and waits until it has.
    pub(super) fn change(&self) {
        self.changes.store(true, Relaxed);
        let since = Instant::now();
        while self.site.delivery("/changed").is_empty() {
            assert!(since.elapsed() < LIMIT, "the page did not change");
            thread::sleep(BETWEEN_LOOKS);
        }
    }

    /// Fills a page, and returns all that is shown, without what differs from run to run.
    pub(super) fn shown(&self, page: &str, more: &[&str]) -> String {
        self.told(&self.fill(page, more))
    }

    /// Fills a page.
    pub(super) fn fill(&self, page: &str, more: &[&str]) -> Ran {
        self.start(page, more, &[]).end()
    }

    /// Starts to fill a page.
    pub(super) fn start(&self, page: &str, more: &[&str], variables: &[(&str, &str)]) -> Running {
        let url = self.site.url(page);
        let run = ["run", "form", "--url", &url, "--profile", "profile.toml"];
        self.command(&[&run[..], more].concat(), variables)
    }

    /// Starts any command of the program.
    pub(super) fn command(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Running {
        let files = [self.home.path("out"), self.home.path("err")];
        let [out, err] =
            files.each_ref().map(|file| File::create(file).expect("the file is created"));
        let child = Command::new(env!("CARGO_BIN_EXE_pointsman"))
            .args(arguments)
            .current_dir(self.home.path(""))
            .env_clear()
            .envs(self.home.variables())
            .env("NO_COLOR", "1")
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err)
            .spawn()
            .expect("the program starts");
        Running { child, files, since: Instant::now() }
    }

    /// Returns the text of what a run showed, without what differs from run to run.
    pub(super) fn told(&self, ran: &Ran) -> String {
        let Ran { code, out, err } = ran;
        let code = code.map_or_else(|| "by a signal".into(), |code| code.to_string());
        let all = format!("exit {code}\n--- stdout\n{out}--- stderr\n{err}");
        let all = all.replace(&self.site.host(), "SITE");
        pages(&self.home.redacted(&all.replace(&self.elsewhere.host(), "ELSEWHERE")))
    }

    /// Returns the one form that was sent.
    pub(super) fn sent(&self) -> Value {
        let mut sent = self.site.delivery("/sent");
        assert_eq!(sent.len(), 1, "{sent:?}");
        sent.remove(0)
    }

    /// Returns what reached the page's fields and controls, event by event.
    pub(super) fn notes(&self, kind: &str) -> Vec<Value> {
        let mut notes = self.site.delivery("/note");
        notes.retain(|note| note["kind"] == kind);
        notes
    }

    /// Returns the state that the last run is in.
    pub(super) fn state(&self) -> String {
        self.last()["state"].as_str().expect("it is in a state").to_owned()
    }

    /// Returns all that is kept of the last run.
    pub(super) fn last(&self) -> Value {
        let (code, out, err) = self.home.pointsman(&["show", "last", "--json"]);
        assert_eq!(code, 0, "{err}");
        serde_json::from_str(&out).expect("the text is valid JSON")
    }
}

/// A command that runs; it is killed if it outlives its test.
pub(super) struct Running {
    child: Child,
    files: [PathBuf; 2],
    since: Instant,
}

impl Running {
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until something is so, while it runs.
    pub(super) fn until(&mut self, what: &str, is_so: impl Fn() -> bool) {
        while !is_so() {
            let ended = self.child.try_wait().expect("the process can be polled");
            assert!(ended.is_none() && self.since.elapsed() < LIMIT, "{what}: {}", self.words());
            thread::sleep(BETWEEN_LOOKS);
        }
    }

    /// Waits for its end.
    pub(super) fn end(mut self) -> Ran {
        loop {
            if let Some(status) = self.child.try_wait().expect("the process can be polled") {
                let [out, err] = self.files.each_ref().map(|file| read(file));
                return Ran { code: status.code(), out, err };
            }
            assert!(self.since.elapsed() < LIMIT, "it takes too long: {}", self.words());
            thread::sleep(BETWEEN_LOOKS);
        }
    }

    /// Kills it as nothing can be killed more.
    pub(super) fn kill(mut self) {
        self.child.kill().expect("the process can be killed");
        drop(self.child.wait());
    }

    fn words(&self) -> String {
        self.files.each_ref().map(|file| read(file)).join("\n")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended cannot be killed, and need not be.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn read(file: &Path) -> String {
    String::from_utf8_lossy(&fs::read(file).expect("the file is readable")).into_owned()
}

/// Replaces what pages and pictures are known by: the site's address is a part of the
/// first, and every pixel of the second.
fn pages(text: &str) -> String {
    let mut shown = String::new();
    for piece in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let word = piece.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let is_hex = word.bytes().all(|byte| byte.is_ascii_hexdigit());
        shown.push_str(match word.len() {
            32 if is_hex => "PAGE",
            16 if is_hex => "PICTURE",
            _ => word,
        });
        shown.push_str(&piece[word.len()..]);
    }
    // A line that is too long is cut, and a path may be in the way.
    let cut = |line: &str| match line.split_once(" [screenshot ") {
        Some((line, _)) => format!("{line} [screenshot]\n"),
        None => match line.split_once(r#","page":""#) {
            Some((line, _)) => format!("{line},\"page\":\"PAGE…\n"),
            None => format!("{line}\n"),
        },
    };
    shown.lines().map(cut).collect::<Vec<_>>().concat()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/form/pages")
}

fn answer(request: &Request, elsewhere: &str) -> HttpReply {
    let path = request.path.as_str();
    if request.method == "POST" {
        return match path {
            "/sent" => {
                HttpReply::html("<h1>Thank you.</h1><p>Your application has number 4711.</p>")
            }
            "/again" => {
                let form = "<form action=/again method=post><ul><li>Email is taken</ul>
                    <label for=name>Full name</label><input id=name name=name value='Ada Lovelace'>
                    <label for=email>Email</label><input id=email name=email value=ada@example.org>
                    <button>Send</button></form>";
                HttpReply::html(form)
            }
            "/broken" => HttpReply::broken("<h1>Something went wrong</h1>"),
            "/slowly-broken" => {
                thread::sleep(LATE * 5);
                HttpReply::broken("<h1>It was NOT saved</h1><img src=/arrived>")
            }
            "/moved" => HttpReply::elsewhere(format!("{elsewhere}plain")),
            "/file" => HttpReply::download(),
            "/step/2" if request.query == "bounce" => {
                HttpReply::json(&json!({ "wrong": "We do not deliver to this postcode." }))
            }
            _ => HttpReply::json(&json!({})),
        };
    }
    match path {
        // Longer than any limit of a test, at this pace.
        "/drip" => HttpReply::html("<p>word ".repeat(2_000)).dripping(LATE / 4),
        "/away" => HttpReply::elsewhere(format!("{elsewhere}plain")),
        "/leave" if !request.query.is_empty() => HttpReply::elsewhere(format!("{elsewhere}plain")),
        "/states" => {
            thread::sleep(LATE);
            HttpReply::json(&states(&request.query))
        }
        _ => match path.strip_prefix("/npm/") {
            Some(name) => {
                let npm = std::env::var_os("POINTSMAN_NPM").expect("it names the packages");
                HttpReply::file(&Path::new(&npm).join("node_modules"), name)
            }
            None if path.contains('.') => HttpReply::file(&folder(), path),
            None => {
                let page = HttpReply::file(&folder(), &format!("{path}.html"));
                page.map(|text| text.replace("ELSEWHERE/", elsewhere))
            }
        },
    }
}

fn states(country: &str) -> Value {
    match country {
        "au" => json!([
            { "code": "nsw", "name": "New South Wales" },
            { "code": "qld", "name": "Queensland" },
        ]),
        "de" => json!([
            { "code": "by", "name": "Bavaria" },
            { "code": "hh", "name": "Hamburg" },
        ]),
        _ => json!([]),
    }
}
