//! Whole runs of the explore agent over a web app, in a real Chromium behind the real server.

use std::{collections::BTreeSet, time::Duration};

use pointsman_runtime::driver::RunStatus;
use serde_json::json;

use super::{
    chromium,
    explored::{ExploreRequest, run},
    real,
    site::Site,
};
use crate::workspace::TestWorkspace;

/// A shop with pages that fail, lead nowhere, or never stop changing.
const SHOP: [(&str, &str); 9] = [
    (
        "/",
        r#"<h1>Shop</h1><nav><a href="/goods">Goods</a> <a href="/cart">Cart</a>
        <a href="/about">About</a> <a href="/clock">Clock</a> <a href="/broken">Broken</a></nav>"#,
    ),
    ("/goods", r#"<h1>Goods</h1><a href="/goods/one">One</a> <a href="/goods/two">Two</a>"#),
    ("/goods/one", r#"<p>One</p><button onclick="location = '/cart'">Buy</button>"#),
    ("/goods/two", r#"<p>Two</p><a href="/dead">Details</a>"#),
    (
        "/cart",
        r#"<h1>Cart</h1><input name="mail" placeholder="Mail"
          oninput="order.hidden = !value.includes('@')">
        <button id="order" onclick="location = '/thanks'" hidden>Order</button>"#,
    ),
    ("/thanks", "<h1>Thanks</h1>"),
    ("/about", "<h1>About</h1><p>Nothing leads on from here.</p>"),
    (
        "/clock",
        r#"<p id="now">0</p><a href="/">Home</a>
        <script>setInterval(() => now.textContent = performance.now(), 20)</script>"#,
    ),
    ("/broken", "500 <h1>Internal error</h1>"),
];

fn explore(name: &str, policy: &str) {
    let pages: Vec<(&str, &str)> = SHOP.iter().copied().chain([("/dead", "hang up")]).collect();
    let site = Site::of(&pages);
    let workspace = TestWorkspace::new(&format!("appium-web-{name}"));
    let mut capabilities = chromium::capabilities();
    capabilities["pointsman:url"] = json!(format!("{}/", site.origin()));
    let policy = Some(policy).filter(|it| !it.is_empty());
    let trip = ExploreRequest {
        url: &real::url(),
        capabilities,
        config: json!({ "app": { "package": site.origin() }, "policy": policy }),
        actions: 120,
        quiet: Duration::from_millis(100),
    };
    let ran = run(&workspace, trip);
    assert!(matches!(ran.outcome.status, RunStatus::Ended(_)), "{:?}", ran.outcome);
    // Failed pages are distinguished from those of the app.
    let failing = BTreeSet::from(["/broken", "/dead"]);
    let wanted = pages.iter().map(|(path, _)| *path).filter(|path| !failing.contains(path));
    let wanted: BTreeSet<&str> = wanted.collect();
    assert_eq!(ran.activities(&site.origin()), wanted, "{name}: {:?}", ran.outcome.report);
    assert_eq!(ran.activities("browser-error"), failing, "{name}");
    assert!(ran.figure("crashes") >= 2, "{name}: {:?}", ran.outcome.report);
}

/// A log-in page, and the page behind it.
const GATE: [(&str, &str); 4] = [
    (
        "/",
        r#"<h1>Log in</h1><input id="user" placeholder="User"><input id="word" type="password"
          placeholder="Password"><button onclick="location = user.value === 'ada'
          && word.value === 'lovelace' ? '/inside' : '/sorry'">Enter</button>"#,
    ),
    ("/sorry", "<p>These are not the right words.</p>"),
    ("/inside", r#"<h1>Inside</h1><a href="/deep">Deeper</a> <a href="/broken">Broken</a>"#),
    ("/deep", "<h1>Deep inside</h1>"),
];

#[test]
#[ignore = "needs Appium: cargo xtask test --only appium"]
fn a_login_gate_is_passed_by_a_set_up() {
    let pages: Vec<(&str, &str)> =
        GATE.iter().copied().chain([("/broken", "500 <h1>Internal error</h1>")]).collect();
    let site = Site::of(&pages);
    let setup = json!([
        { "act": "text", "resource": "user", "text": "ada" },
        { "act": "text", "resource": "word", "text": "lovelace" },
        { "act": "tap", "label": "Enter" },
    ]);
    for (name, setup, wanted) in [
        ("outside", json!([]), BTreeSet::from(["/", "/sorry"])),
        ("inside", setup, BTreeSet::from(["/", "/inside", "/deep"])),
    ] {
        let workspace = TestWorkspace::new(&format!("appium-web-gate-{name}"));
        let mut capabilities = chromium::capabilities();
        capabilities["pointsman:url"] = json!(format!("{}/", site.origin()));
        let app = json!({ "package": site.origin() });
        let trip = ExploreRequest {
            url: &real::url(),
            capabilities,
            config: json!({ "app": app, "setup": setup, "policy": "max_coverage" }),
            actions: 80,
            quiet: Duration::from_millis(100),
        };
        let ran = run(&workspace, trip);
        assert!(matches!(ran.outcome.status, RunStatus::Ended(_)), "{:?}", ran.outcome);
        let seen = ran.activities(&site.origin());
        assert!(seen.is_superset(&wanted), "{name}: {seen:?} {:?}", ran.outcome.report);
        assert_eq!(seen.contains("/inside"), name == "inside", "{seen:?}");
        // Behind the gate the app fails, is started again, and passes it once more.
        let failed = usize::from(name == "inside");
        assert_eq!(ran.activities("browser-error").len(), failed, "{name}");
    }
}

#[test]
#[ignore = "needs Appium: cargo xtask test --only appium"]
fn breadth_first_sees_every_page() {
    explore("bfs", "breadth_first");
}

#[test]
#[ignore = "needs Appium: cargo xtask test --only appium"]
fn depth_first_sees_every_page() {
    explore("dfs", "depth_first");
}

#[test]
#[ignore = "needs Appium: cargo xtask test --only appium"]
fn max_coverage_sees_every_page() {
    explore("coverage", "max_coverage");
}

#[test]
#[ignore = "needs Appium: cargo xtask test --only appium"]
fn focused_sees_every_page() {
    explore("focused", "focused");
}

#[test]
#[ignore = "needs Appium: cargo xtask test --only appium"]
fn goal_oriented_sees_every_page() {
    explore("goal", "goal_oriented");
}

#[test]
#[ignore = "needs Appium: cargo xtask test --only appium"]
fn policies_that_switch_see_every_page() {
    explore("auto", "");
}
