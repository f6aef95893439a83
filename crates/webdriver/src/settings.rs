//! `[form]` and `[explore]`, as browsers and devices take them.

use std::time::Duration;

use pointsman_runtime::config::{ExploreConfig, FormConfig};

use crate::{
    browser::{self, Attach},
    device,
};

/// Milliseconds that the chart leaves beyond what the browser's own limits add up to.
const MARGIN_MS: u64 = 3_000;

/// Returns the browser that is used.
pub fn browser(config: &FormConfig) -> browser::Settings {
    let mut settings = browser::Settings::default();
    settings.driver.clone_from(&config.driver);
    settings.browser.clone_from(&config.browser);
    settings.attach = config.attach.as_deref().map(attach);
    settings.visible = config.visible.unwrap_or(settings.visible);
    settings.keep = ms(config.keep_ms, settings.keep);
    settings.start = ms(config.start_ms, settings.start);
    settings.load = ms(config.load_ms, settings.load);
    settings.settle = ms(config.settle_ms, settings.settle);
    // A page that stands still for so long must have done so before it is given up.
    settings.bare = ms(config.bare_ms, settings.bare).min(settings.settle / 2);
    settings.moving = ms(config.press_ms, settings.moving);
    settings.options = ms(config.list_ms, settings.options);
    settings.parts = ms(config.parts_ms, settings.parts);
    settings.command = ms(config.command_ms, settings.command);
    settings.stop = ms(config.stop_ms, settings.stop);
    settings
}

/// Returns the milliseconds that the states of `form`'s chart have, where they are not the usual
/// ones: a state must outlast what the browser may take in it.
pub fn timeouts(config: &FormConfig) -> Vec<(&'static str, u64)> {
    let settings = browser(config);
    let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let mut states = Vec::new();
    let opens = [config.start_ms, config.load_ms, config.settle_ms];
    if opens.iter().any(Option::is_some) {
        let all = settings.start.saturating_add(settings.load).saturating_add(settings.settle);
        states.push(("observe", ms(all).saturating_add(MARGIN_MS)));
    }
    let moves = [config.press_ms, config.load_ms, config.settle_ms];
    if moves.iter().any(Option::is_some) {
        // The page stands still before the control is pressed, and again after it.
        let twice = settings.settle.saturating_mul(2);
        let all = settings.moving.saturating_add(settings.load).saturating_add(twice);
        states.push(("next_page", ms(all).saturating_add(MARGIN_MS)));
    }
    states.extend(config.fill_ms.map(|it| ("fill", it)));
    states.extend(config.verify_ms.map(|it| ("verify", it)));
    states
}

/// Returns how long a device is given.
pub fn device(config: &ExploreConfig) -> device::Settings {
    let usual = device::Settings::default();
    device::Settings {
        quiet: ms(config.quiet_ms, usual.quiet),
        settle: ms(config.settle_ms, usual.settle),
        poll: ms(config.poll_ms, usual.poll),
        wait: ms(config.wait_ms, usual.wait),
        command: ms(config.command_ms, usual.command),
        session: ms(config.session_ms, usual.session),
        install: ms(config.install_ms, usual.install),
        launch: ms(config.launch_ms, usual.launch),
        connect: ms(config.connect_ms, usual.connect),
        close: ms(config.close_ms, usual.close),
        hold: ms(config.hold_ms, usual.hold),
        swipe: ms(config.swipe_ms, usual.swipe),
        distance: config.distance.unwrap_or(usual.distance),
    }
}

/// Returns what an address means: a driver's, or that of a browser's debugger.
fn attach(address: &str) -> Attach {
    if address.starts_with("http://") {
        Attach::Driver { url: address.into(), session: None }
    } else {
        Attach::Debugger(address.into())
    }
}

fn ms(wanted: Option<u64>, usual: Duration) -> Duration {
    wanted.map_or(usual, Duration::from_millis)
}
