//! A web app in a real Chromium, behind the real server and its driver for Chromium.

use std::{
    net::TcpListener,
    path::PathBuf,
    time::{Duration, Instant},
};

use pointsman_agents::explore::{DeviceAction, Direction, Platform};
use pointsman_webdriver::device::{
    AppState, Appium, Device as _, DeviceClass, Gesture, ScreenCapture,
};
use serde_json::{Value, json};

use super::{folder, found, on, real, settings, site::Site, swipe, tap, text};

/// A web app, and the browser that shows it.
struct WebApp {
    device: Appium,
    site: Site,
    record: PathBuf,
}

pub(super) fn capabilities() -> Value {
    json!({
        "platformName": "linux",
        "browserName": "chrome",
        "appium:automationName": "Chromium",
        "appium:executable": program("chromedriver"),
        // Two sessions must not share the default port.
        "appium:chromedriverPort": free_port(),
        "goog:chromeOptions": { "binary": program("chromium"), "args": [
            "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--window-size=800,600",
            "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
        ] },
    })
}

/// Returns a port without a listener at this moment.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    listener.local_addr().expect("listener has an address").port()
}

/// Returns where a program is: the server does not look for it.
fn program(name: &str) -> String {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let mut found = std::env::split_paths(&paths).map(|it| it.join(name)).filter(|it| it.is_file());
    let found = found.next().unwrap_or_else(|| panic!("{name} is not in PATH"));
    found.display().to_string()
}

impl WebApp {
    async fn pages(pages: &[(&str, &str)]) -> Self {
        let site = Site::of(pages);
        let mut settings = settings(&real::url(), &capabilities());
        settings.start = Some(format!("{}/", site.origin()));
        assert_eq!(settings.app(), Some(site.origin()));
        let record = folder(&format!("chromium-{}", site.port())).join("RUN.json");
        settings.record = Some(record.clone());
        let device = Appium::new(settings).expect("server address is valid");
        device.open().await.expect("session opens");
        device.launch(&site.origin(), "").await.expect("app launches");
        Self { device, site, record }
    }

    async fn look(&self) -> ScreenCapture {
        self.device.look().await.expect("screen is captured")
    }

    async fn act(&self, gesture: &Gesture) -> ScreenCapture {
        self.device.act(gesture, "").await.expect("device performs the gesture");
        self.look().await
    }

    async fn state(&self) -> AppState {
        self.device.state(&self.site.origin()).await.expect("app has a state")
    }

    /// Ends the process of the page.
    async fn crash(&self) {
        let path = format!("/session/{}/url", real::session(&self.record));
        let (status, said) =
            real::call("POST", &path, Some(json!({ "url": "chrome://crash" }))).await;
        assert_eq!(status, 500, "{said}");
    }

    async fn end(self) {
        self.device.close().await.expect("session closes");
    }
}

fn back() -> Gesture {
    Gesture { act: DeviceAction::Back, ..Gesture::default() }
}

#[tokio::test]
#[ignore = "needs Appium: cargo xtask test --only appium"]
async fn web_page_is_a_screen_with_its_actions() {
    let shown = WebApp::pages(&[(
        "/",
        r##"<title>Shop</title><h1>Shop</h1><a href="/cart">Cart</a><button disabled>Buy</button>
        <div role="button" id="menu">Menu</div><span style="cursor: pointer">Heart</span>
        <label>Mail <input name="mail" placeholder="you@example.org"></label>
        <input type="password" aria-label="Secret" value="abc"><input type="hidden" name="h">
        <input type="checkbox" id="news" checked><select id="size"><option>S<option>M</select>
        <nav><ul><li><a href="/a">One</a></ul></nav><ul id="rows"><li><a href="/b">Two</a></ul>
        <p style="display: none"><a href="/no">Never</a></p><p>Just <b>words</b></p>
        <div style="height: 50px; overflow: auto" id="box"><div style="height: 500px">Long</div></div>"##,
    )])
    .await;
    let look = shown.look().await;
    assert_eq!(look.tree.platform, Platform::Web);
    assert_eq!((look.package.as_str(), look.activity.as_str()), (&*shown.site.origin(), "/"));
    let element = |label: &str| found(&look, label).1.clone();
    for label in ["Cart", "Menu", "Heart", "Mail", "news", "size"] {
        let it = element(label);
        assert!(it.clickable && it.enabled && it.displayed, "{label}: {it:?}");
    }
    assert!(!element("Buy").enabled && !element("Shop").clickable);
    assert!(element("Mail").editable && element("Mail").hint == "you@example.org");
    let secret = element("Secret");
    assert!(secret.password && secret.text == "***", "{secret:?}");
    assert!(element("news").checkable && element("news").checked);
    // Rows of a list differ from entries of a menu.
    let (rows, _) = found(&look, "rows");
    assert_eq!((element("Two").parent, element("rows").class.as_str()), (Some(rows), "ul"));
    assert!(!look.tree.around(found(&look, "One").0).any(|(_, it)| it.class == "ul"));
    assert!(element("box").scrollable && element("size").text == "S");
    let never = look.tree.elements.iter().any(|it| it.text == "Never" || it.resource == "h");
    assert!(!never, "what is not shown is not listed");
    // Parents come before their children.
    let parents = look.tree.elements.iter().enumerate();
    assert!(parents.skip(1).all(|(at, it)| it.parent.is_some_and(|parent| parent < at)));
    let picture =
        shown.device.picture().await.expect("screenshot is taken").expect("list is not empty");
    assert!(picture.starts_with(b"\x89PNG"));
    shown.end().await;
}

#[tokio::test]
#[ignore = "needs Appium: cargo xtask test --only appium"]
async fn taps_texts_and_the_way_back_lead_through_an_app() {
    let shown = WebApp::pages(&[
        ("/", r#"<a href="/form">Sign in</a>"#),
        (
            "/form",
            r#"<form action="/in"><input name="name" value="old"><button>Go</button></form>
            <input type="date" id="day" onchange="out.textContent = this.value">
            <select id="size" onchange="out.textContent = this.value"><option>S<option>M</select>
            <p id="out">nothing</p>
            <button id="held" onmousedown="t = Date.now()"
              onmouseup="out.textContent = Date.now() - t > 900 ? 'long' : 'short'">Hold</button>"#,
        ),
        ("/in", "<p>Welcome"),
    ])
    .await;
    let look = tap(&shown.device, "Sign in").await;
    assert_eq!(look.activity, "/form");
    let look = shown.act(&text(&look, "name", "Ada")).await;
    assert_eq!(found(&look, "name").1.text, "Ada", "the old text is gone");
    let look = shown.act(&on(&look, "size", DeviceAction::Tap)).await;
    assert_eq!((&*found(&look, "size").1.text, &*found(&look, "out").1.text), ("M", "M"));
    for (typed, day) in [("1999-12-31", "1999-12-31"), ("tomorrow", "2001-02-03")] {
        let look = shown.act(&text(&look, "day", typed)).await;
        assert_eq!((&*found(&look, "day").1.text, &*found(&look, "out").1.text), (day, day));
    }
    let look = shown.act(&on(&look, "held", DeviceAction::LongPress)).await;
    assert_eq!(found(&look, "out").1.text, "long");
    let look = shown.act(&on(&look, "Go", DeviceAction::Tap)).await;
    assert_eq!(look.activity, "/in");
    let look = shown.act(&back()).await;
    assert_eq!(look.activity, "/form");
    // An app that is open stays where it is; one that is started again begins at its start.
    let origin = shown.site.origin();
    shown.device.launch(&origin, "").await.expect("app launches");
    assert_eq!(shown.look().await.activity, "/form");
    shown.device.restart(&origin, "").await.expect("app restarts");
    assert_eq!(shown.look().await.activity, "/");
    shown.end().await;
}

#[tokio::test]
#[ignore = "needs Appium: cargo xtask test --only appium"]
async fn long_page_is_swiped_to_reach_lower_elements() {
    let shown = WebApp::pages(&[(
        "/",
        r#"<p id="top">Top</p><div style="height: 3000px"></div>
        <button onclick="document.title = this.textContent = 'Done'">Last</button>"#,
    )])
    .await;
    let look = shown.look().await;
    let (whole, page) = look.tree.elements.iter().enumerate().next().expect("page loads");
    assert!(page.scrollable);
    let top = |look: &ScreenCapture| found(look, "top").1.bounds.expect("element has bounds").top;
    let mut up = swipe(&look, "top", Direction::Up);
    (up.target, up.bounds) = (Some(whole), page.bounds);
    let after = shown.act(&up).await;
    assert_eq!(top(&look) - top(&after), 500);
    let down = Gesture { direction: Some(Direction::Down), ..up };
    let after = shown.act(&down).await;
    assert_eq!(top(&look), top(&after));
    let after = shown.act(&on(&after, "Last", DeviceAction::Tap)).await;
    assert!(found(&after, "Done").1.clickable);
    shown.end().await;
}

/// The page changes all the time: it can be looked at and used all the same.
#[tokio::test]
#[ignore = "needs Appium: cargo xtask test --only appium"]
async fn a_page_that_never_settles_can_be_used() {
    let shown = WebApp::pages(&[
        (
            "/",
            r#"<a href="/on">On</a><p id="clock">0</p>
            <script>setInterval(() => clock.textContent = performance.now(), 5)</script>"#,
        ),
        ("/on", "<p>There"),
    ])
    .await;
    let clock = |look: &ScreenCapture| found(look, "clock").1.text.clone();
    let (one, two) = (shown.look().await, shown.look().await);
    assert_ne!(clock(&one), clock(&two));
    assert_eq!(shown.act(&on(&two, "On", DeviceAction::Tap)).await.activity, "/on");
    shown.end().await;
}

#[tokio::test]
#[ignore = "needs Appium: cargo xtask test --only appium"]
async fn failed_page_is_a_crash_and_another_site_is_not() {
    let shown = WebApp::pages(&[
        (
            "/",
            r#"<a href="/error">Error</a><a href="/dead">Dead</a><a href="/none">None</a>
            <a href="http://elsewhere.test/">Elsewhere</a>"#,
        ),
        ("/error", "500 <h1>Internal error</h1>"),
        ("/dead", "hang up"),
    ])
    .await;
    let origin = shown.site.origin();
    assert_eq!(shown.state().await, AppState::Front);
    for (label, path, state) in [
        ("Error", "/error", AppState::Stopped),
        ("Dead", "/dead", AppState::Stopped),
        ("None", "/none", AppState::Front),
    ] {
        let look = tap(&shown.device, label).await;
        let package = if state == AppState::Front { &origin } else { "browser-error" };
        assert_eq!((&*look.package, &*look.activity), (package, path), "{label}");
        assert_eq!(shown.state().await, state, "{label}");
        shown.device.restart(&origin, "").await.expect("app restarts");
        assert_eq!(shown.state().await, AppState::Front);
    }
    let look = tap(&shown.device, "Elsewhere").await;
    assert_eq!(look.package, "http://elsewhere.test");
    assert_eq!(shown.state().await, AppState::Background);
    shown.end().await;
}

#[tokio::test]
#[ignore = "needs Appium: cargo xtask test --only appium"]
async fn a_tab_that_crashes_is_opened_again() {
    let shown = WebApp::pages(&[("/", r#"<a href="/b">B</a>"#), ("/b", "<p>Here")]).await;
    let origin = shown.site.origin();
    assert_eq!(tap(&shown.device, "B").await.activity, "/b");
    shown.crash().await;
    assert_eq!(shown.state().await, AppState::Stopped);
    let look = shown.look().await;
    assert_eq!((&*look.package, &*look.activity), ("browser-error", "/b"));
    assert!(look.tree.elements.is_empty());
    shown.device.restart(&origin, "").await.expect("app restarts");
    assert_eq!(shown.look().await.activity, "/");
    shown.end().await;
}

#[tokio::test]
#[ignore = "needs Appium: cargo xtask test --only appium"]
async fn changed_or_covered_element_is_not_tapped() {
    let shown = WebApp::pages(&[(
        "/",
        r#"<button id="a">A</button><br><button id="b">B</button>
        <div id="over" style="position: fixed; inset: 0; background: white; display: none">
        <button onclick="over.style.display = 'none'">Close</button></div>
        <script>
          b.onclick = () => over.style.display = 'block';
          a.onclick = () => a.remove();
        </script>"#,
    )])
    .await;
    let look = shown.look().await;
    let open = shown.act(&on(&look, "B", DeviceAction::Tap)).await;
    assert!(!found(&open, "A").1.displayed && found(&open, "Close").1.displayed);
    let covered = shown
        .device
        .act(&on(&open, "A", DeviceAction::Tap), "")
        .await
        .expect_err("element is covered");
    assert_eq!(covered.class, DeviceClass::InputFailed, "{covered}");
    let shut = shown.act(&on(&open, "Close", DeviceAction::Tap)).await;
    assert!(found(&shut, "A").1.displayed);
    shown.act(&on(&shut, "A", DeviceAction::Tap)).await;
    let gone =
        shown.device.act(&on(&shut, "A", DeviceAction::Tap), "").await.expect_err("target is gone");
    assert_eq!(gone.class, DeviceClass::Stale, "{gone}");
    shown.end().await;
}

#[tokio::test]
#[ignore = "needs Appium: cargo xtask test --only appium"]
async fn a_window_that_a_tap_opens_is_followed_and_left_again() {
    let shown = WebApp::pages(&[
        ("/", r#"<a href="/new" target="_blank" rel="opener">New</a>"#),
        ("/new", r#"<a href="/on">On</a><button onclick="window.close()">Shut</button>"#),
        ("/on", "<p>There"),
    ])
    .await;
    assert_eq!(tap(&shown.device, "New").await.activity, "/new");
    assert_eq!(tap(&shown.device, "On").await.activity, "/on");
    // The way back goes through the pages of the window first.
    for path in ["/new", "/"] {
        assert_eq!(shown.act(&back()).await.activity, path);
    }
    // A window may close itself, and an app that starts again has one.
    tap(&shown.device, "New").await;
    tap(&shown.device, "Shut").await;
    // It does so after a while.
    let limit = Instant::now() + Duration::from_mins(3);
    while shown.look().await.activity != "/" {
        assert!(Instant::now() < limit, "the window stays");
    }
    tap(&shown.device, "New").await;
    shown.device.restart(&shown.site.origin(), "").await.expect("app restarts");
    assert_eq!(shown.look().await.activity, "/");
    shown.end().await;
}
