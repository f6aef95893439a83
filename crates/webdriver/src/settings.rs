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
pub fn browser(config: &FormConfig) -> browser::BrowserSettings {
    let mut settings = browser::BrowserSettings::default();
    settings.driver.clone_from(&config.driver);
    settings.browser.clone_from(&config.browser);
    settings.attach = config.attach.as_deref().map(attach);
    settings.visible = config.visible.unwrap_or(settings.visible);
    settings.keep = config.keep.unwrap_or(settings.keep);
    settings.start = config.start.unwrap_or(settings.start);
    settings.load = config.load.unwrap_or(settings.load);
    settings.settle = config.settle.unwrap_or(settings.settle);
    // A page must not change for this long before it is abandoned.
    settings.bare = config.bare.unwrap_or(settings.bare).min(settings.settle / 2);
    settings.moving = config.press.unwrap_or(settings.moving);
    settings.options = config.list.unwrap_or(settings.options);
    settings.parts = config.parts.unwrap_or(settings.parts);
    settings.command = config.command.unwrap_or(settings.command);
    settings.stop = config.stop.unwrap_or(settings.stop);
    settings
}

/// Returns the milliseconds that the states of `form`'s chart have, where they are not the usual
/// ones: a state must outlast what the browser may take in it.
pub fn timeouts(config: &FormConfig) -> Vec<(&'static str, u64)> {
    let settings = browser(config);
    let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let mut states = Vec::new();
    let opens = [config.start, config.load, config.settle];
    if opens.iter().any(Option::is_some) {
        let all = settings.start.saturating_add(settings.load).saturating_add(settings.settle);
        states.push(("observe", ms(all).saturating_add(MARGIN_MS)));
    }
    let moves = [config.press, config.load, config.settle];
    if moves.iter().any(Option::is_some) {
        // The page must settle before the control is pressed, and again afterwards.
        let twice = settings.settle.saturating_mul(2);
        let all = settings.moving.saturating_add(settings.load).saturating_add(twice);
        states.push(("next_page", ms(all).saturating_add(MARGIN_MS)));
    }
    states.extend(config.fill_ms.map(|it| ("fill", it)));
    states.extend(config.verify_ms.map(|it| ("verify", it)));
    states
}

/// Returns how long a device is given.
pub fn device(config: &ExploreConfig) -> device::DeviceSettings {
    let usual = device::DeviceSettings::default();
    device::DeviceSettings {
        quiet: config.quiet.unwrap_or(usual.quiet),
        settle: config.settle.unwrap_or(usual.settle),
        poll: config.poll.unwrap_or(usual.poll),
        wait: config.wait.unwrap_or(usual.wait),
        command: config.command.unwrap_or(usual.command),
        session: config.session.unwrap_or(usual.session),
        install: config.install.unwrap_or(usual.install),
        launch: config.launch.unwrap_or(usual.launch),
        connect: config.connect.unwrap_or(usual.connect),
        close: config.close.unwrap_or(usual.close),
        hold: config.hold.unwrap_or(usual.hold),
        swipe: config.swipe.unwrap_or(usual.swipe),
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
