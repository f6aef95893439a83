//! A server with runs, and a browser in front of it.

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use pointsman_webdriver::browser::{Browser, BrowserSettings};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::{
    home::Home,
    serve::{SOON, Server},
};

/// The width of the narrowest window.
const NARROWEST: u32 = 500;
/// Flags of a browser that treats no window as hidden.
const VISIBLE: [&str; 3] = [
    "--disable-backgrounding-occluded-windows",
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
];

/// A browser that shows the page of a server.
pub(super) struct Rig {
    pub(super) home: Home,
    pub(super) server: Server,
    browser: Option<Browser>,
    runtime: Runtime,
}

impl Rig {
    /// Imports kept runs into a home, and starts a server and a browser over it.
    pub(super) fn new(home: Home, kept: &[&str]) -> Self {
        Self::sized(home, kept, (1400, 900))
    }

    /// The same, with a window of a size.
    pub(super) fn sized(home: Home, kept: &[&str], size: (u32, u32)) -> Self {
        Self::driving("2", home, kept, size)
    }

    /// The same with a server that drives no runs.
    pub(super) fn idle(home: Home, kept: &[&str]) -> Self {
        Self::driving("0", home, kept, (1400, 900))
    }

    fn driving(jobs: &str, home: Home, kept: &[&str], (width, height): (u32, u32)) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
        for name in kept {
            let file = folder.join(format!("{name}.jsonl")).display().to_string();
            let (code, _, told) = home.pointsman(&["import", &file]);
            assert_eq!(code, 0, "{name}: {told}");
        }
        let server = Server::start(&home, &["--jobs", jobs]);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime starts");
        let mut settings = BrowserSettings::default();
        settings.flags.push(format!("--window-size={width},{height}"));
        // A window that nobody sees is drawn all the same.
        settings.flags.extend(VISIBLE.map(Into::into));
        settings.start = SOON;
        settings.command = SOON;
        let browser = runtime.block_on(Browser::open(&settings)).expect("the browser starts");
        if width < NARROWEST {
            runtime.block_on(browser.emulate_size(width, height)).expect("pages get the size");
        }
        Self { home, server, browser: Some(browser), runtime }
    }

    fn browser(&self) -> &Browser {
        self.browser.as_ref().expect("it is open")
    }

    /// Opens an address of the server.
    pub(super) fn open(&self, path: &str) {
        let url = format!("http://{}{path}", self.server.address);
        self.runtime.block_on(self.browser().goto(&url)).expect("the page loads");
    }

    /// Runs a script in the page.
    pub(super) fn script(&self, body: &str) -> Value {
        self.runtime.block_on(self.browser().script(body, Vec::new())).expect("the script runs")
    }

    /// Runs a script with an argument.
    pub(super) fn script_with(&self, body: &str, argument: Value) -> Value {
        let ran = self.runtime.block_on(self.browser().script(body, vec![argument]));
        ran.expect("the script runs")
    }

    /// Returns the text of the element that a selector finds.
    pub(super) fn text(&self, selector: &str) -> String {
        let body = "return document.querySelector(arguments[0])?.textContent ?? ''";
        self.script_with(body, json!(selector)).as_str().unwrap_or_default().to_owned()
    }

    /// Presses the element that a selector finds.
    pub(super) fn press(&self, selector: &str) {
        self.wait(&format!("document.querySelector({})", json!(selector)));
        self.script_with("document.querySelector(arguments[0]).click()", json!(selector));
    }

    /// Presses a key on the page.
    pub(super) fn key(&self, key: &str) {
        let body = "document.body.dispatchEvent(new KeyboardEvent('keydown', \
                    { key: arguments[0], bubbles: true, cancelable: true }))";
        self.script_with(body, json!(key));
    }

    /// Waits until an expression is true in the page.
    pub(super) fn wait(&self, expression: &str) {
        let since = Instant::now();
        while self.script(&format!("return Boolean({expression})")) != json!(true) {
            assert!(
                since.elapsed() < SOON,
                "`{expression}` was not so:\n{}\n{}",
                self.condition(),
                self.text("main")
            );
            thread::sleep(Duration::from_millis(30));
        }
    }

    /// Describes whether the page still draws, and its last requests.
    fn condition(&self) -> String {
        self.script("window.drew = 'draws nothing'; requestAnimationFrame(() => { window.drew = 'draws'; })");
        thread::sleep(Duration::from_secs(2));
        let found = self.script(
            "const last = performance.getEntriesByType('resource').slice(-5); \
             const of = (it) => `${it.name} ${Math.round(it.startTime)} to ${Math.round(it.responseEnd)} ms, ${it.responseStatus}`; \
             return [document.visibilityState, window.drew, `${Math.round(performance.now())} ms`, ...last.map(of)].join('\\n')",
        );
        found.as_str().unwrap_or_default().to_owned()
    }

    /// Waits until the story and the moment of the open run are drawn.
    pub(super) fn ready(&self) {
        self.wait("document.querySelector('.entry') && document.querySelector('.state.now')");
    }

    /// Scrolls an element, waits until that is drawn, and returns whether it moved. A browser that draws no frame for
    /// lack of time tells of no scrolling either.
    pub(super) fn scroll(&self, selector: &str, by: &str) -> bool {
        let moved = self.script(&format!(
            "const it = document.querySelector('{selector}'); const was = it.scrollTop; \
             delete document.body.dataset.drawn; it.scrollTop += {by}; const turn = window.turn = {{}}; \
             const drawn = () => {{ if (window.turn === turn) document.body.dataset.drawn = '1'; }}; \
             requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(drawn))); \
             setTimeout(() => {{ if (window.turn === turn && !document.body.dataset.drawn) {{ \
               it.dispatchEvent(new Event('scroll')); setTimeout(drawn, 2000); }} }}, 3000); \
             return Math.abs(it.scrollTop - was) > 1"
        ));
        self.wait("document.body.dataset.drawn");
        moved == json!(true)
    }

    /// Returns the number of elements in the document.
    pub(super) fn elements(&self) -> u64 {
        let count = self.script("return document.querySelectorAll('*').length");
        count.as_u64().expect("it is a number")
    }

    /// Returns the ids of the runs, the newest first.
    pub(super) fn runs(&self) -> Vec<(String, String)> {
        let page = self.server.json("/api/v1/runs?limit=1000");
        let runs = page["runs"].as_array().expect("a list").iter();
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        runs.map(|run| (text(&run["run"]), text(&run["agent"]))).collect()
    }

    /// Returns the newest run of an agent.
    pub(super) fn run_of(&self, agent: &str) -> String {
        let run = self.runs().into_iter().find(|(_, of)| of == agent);
        run.unwrap_or_else(|| panic!("the list has a run of {agent}")).0
    }

    /// Gives the page a token, for this tab.
    pub(super) fn sign_in(&self) {
        let (code, token, told) =
            self.home.pointsman(&["token", "create", "--role", "admin", "--page"]);
        assert_eq!(code, 0, "{told}");
        let body = "sessionStorage.setItem('pointsman.token', arguments[0])";
        self.script_with(body, json!(token.trim()));
    }

    /// Types into a field, as a person who replaces what is in it.
    pub(super) fn enter(&self, selector: &str, text: &str) {
        self.wait(&format!("document.querySelector({})", json!(selector)));
        let body = "const it = document.querySelector(arguments[0][0]); it.focus(); \
                    it.value = arguments[0][1]; \
                    for (const name of ['input', 'change']) \
                    it.dispatchEvent(new Event(name, { bubbles: true }))";
        self.script_with(body, json!([selector, text]));
    }

    /// Puts a function in the place of `fetch`. It knows the address as `at`, the `real` function, and `answer(json)`;
    /// `window.asked` has the addresses.
    pub(super) fn intercept(&self, body: &str) {
        self.script(&format!(
            "const real = window.real ??= window.fetch; window.asked = []; \
             const answer = (value, status = 200) => new Response(JSON.stringify(value), {{ status }}); \
             window.fetch = async (url, options) => {{ const at = new URL(url, location); \
             window.asked.push(at.pathname + at.search); {body} }}"
        ));
    }

    /// Waits until what has been answered is drawn.
    pub(super) fn settle(&self) {
        self.script(
            "delete document.body.dataset.drawn; const turn = window.turn = {}; \
             const drawn = () => { if (window.turn === turn) document.body.dataset.drawn = '1'; }; \
             setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(drawn)), 100); \
             setTimeout(drawn, 5000)",
        );
        self.wait("document.body.dataset.drawn");
    }

    /// Tells the page that its tab is hidden, or visible.
    pub(super) fn turn(&self, state: &str) {
        self.script_with(
            "Object.defineProperty(document, 'visibilityState', { configurable: true, value: arguments[0] }); \
             document.dispatchEvent(new Event('visibilitychange'))",
            json!(state),
        );
    }

    /// Presses a key where the focus is, as a keyboard does, and returns whether the page used it.
    pub(super) fn key_at_focus(&self, key: &str) -> bool {
        let body = "return !document.activeElement.dispatchEvent(new KeyboardEvent('keydown', \
                    { key: arguments[0], bubbles: true, cancelable: true }))";
        self.script_with(body, json!(key)) == json!(true)
    }

    /// Asks axe-core for serious issues of the page as it is.
    pub(super) fn check_access(&self, what: &str) {
        let npm = std::env::var_os("POINTSMAN_NPM").expect("the tier names the folder of packages");
        let axe = fs::read_to_string(Path::new(&npm).join("node_modules/axe-core/axe.min.js"));
        self.script(&axe.expect("axe-core is installed"));
        self.script("window.found = null; axe.run().then((it) => { window.found = it; })");
        self.wait("window.found");
        let serious = self.script(
            "return window.found.violations.filter((it) => ['serious', 'critical'].includes(it.impact))\
             .map((it) => `${it.id}: ${it.nodes.map((n) => n.html.slice(0, 160)).join(' ; ')}`)",
        );
        assert_eq!(serious, json!([]), "{what}");
    }

    /// Returns a picture of the page.
    pub(super) fn screenshot(&self) -> Vec<u8> {
        self.runtime.block_on(self.browser().screenshot()).expect("a picture")
    }

    /// Keeps a picture of the page, where a folder for pictures is named.
    pub(super) fn picture(&self, name: &str) {
        let Some(folder) = std::env::var_os("POINTSMAN_PICTURES") else { return };
        let picture = self.screenshot();
        fs::create_dir_all(&folder).expect("the folder is made");
        fs::write(Path::new(&folder).join(format!("{name}.png")), picture).expect("it is written");
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        if let Some(browser) = self.browser.take() {
            self.runtime.block_on(browser.close());
        }
    }
}
