//! `run --open`: the page beside a run, and the browser that shows it.

use std::{fs, net::SocketAddr, thread, time::Duration};

use super::{CTRL_C, Terminal};
use crate::{home::Home, serve::client::bare};

const RUN: [&str; 4] = ["run", "research", "Who sets the points?", "--open"];

#[test]
fn page_of_a_run_is_opened_and_stays_until_ctrl_c() {
    let home = Home::new("open-page");
    home.write("browser.sh", "echo \"$1\" > opened.new && mv opened.new opened\n");
    let terminal = Terminal::browsing("sh browser.sh", &home, &RUN);
    let shown = terminal.shows("until you press Ctrl-C");
    assert!(shown.contains("sets the points before the train"), "the result comes first: {shown}");
    // The browser is a process of its own. The terminal's limit ends a test without one.
    while !home.path("opened").exists() {
        assert!(!terminal.screen().contains("was not opened"), "{}", terminal.screen());
        thread::sleep(Duration::from_millis(20));
    }
    let url = fs::read_to_string(home.path("opened")).expect("it is text");
    let place = url.trim().strip_prefix("http://").expect("an address of this machine");
    let (address, path) = place.split_once('/').expect("it has a path");
    let address: SocketAddr = address.parse().expect("an address");
    assert!(address.ip().is_loopback(), "{url}");
    let run = path.strip_prefix("runs/").expect("the page of a run");
    assert!(shown.replace('\n', "").contains(run), "{run}: {shown}");
    let get = |path: &str| bare(address, "GET", path, &[], "").expect("the server answers");
    assert_eq!(get(&format!("/{path}")).status, 200);
    let detail = get(&format!("/api/v1/runs/{run}")).json();
    assert_eq!(detail["disposition"], "succeeded", "{detail}");
    terminal.keys(CTRL_C);
    let (code, shown) = terminal.ends();
    assert_eq!(code, 0, "{shown}");
    assert!(bare(address, "GET", "/", &[], "").is_err(), "nothing is left");
}

#[test]
fn missing_browser_is_only_reported() {
    let home = Home::new("open-nothing");
    let terminal = Terminal::browsing("/nonexistent/browser", &home, &RUN);
    terminal.shows("the browser was not opened");
    terminal.shows("until you press Ctrl-C");
    terminal.keys(CTRL_C);
    let (code, shown) = terminal.ends();
    assert_eq!(code, 0, "{shown}");
}

#[test]
fn without_a_terminal_the_page_ends_with_the_run() {
    let home = Home::new("open-script");
    let shown = home.with(&[("BROWSER", "true")], &RUN);
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    assert!(shown.err.contains("page: http://127.0.0.1:"), "{}", shown.err);
    assert!(!shown.err.contains("until you press"), "{}", shown.err);
}
