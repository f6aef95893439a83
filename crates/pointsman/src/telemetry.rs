//! OpenTelemetry: what the runs that this process drives do, as spans sent by OTLP.
//!
//! Off unless a variable names where to send them. Spans come from live notices alone, so entries that are read
//! again have none. `settings.rs` reads the variables, `spans.rs` makes spans of notices, `content.rs` what
//! people opted into, `sending.rs` sends; `names.rs` has every name.

mod content;
mod names;
mod sending;
mod settings;
mod spans;

use std::sync::{Arc, OnceLock};

use pointsman_runtime::observe::Observer;

use crate::{notify::note, paths::variable};
use sending::SpanSender;
use settings::TelemetrySettings;
use spans::SpanObserver;

/// What all runs of the process share.
struct Telemetry {
    sender: Arc<SpanSender>,
    settings: Arc<TelemetrySettings>,
}

static TELEMETRY: OnceLock<Option<Telemetry>> = OnceLock::new();

/// Returns an observer that makes spans of what its runs do, if the environment asks for spans.
pub(crate) fn observer() -> Option<Arc<dyn Observer>> {
    let telemetry = TELEMETRY.get_or_init(open).as_ref()?;
    let sender = Arc::clone(&telemetry.sender);
    let observer =
        SpanObserver::new(Arc::clone(&telemetry.settings), move |span| sender.send(span));
    Some(Arc::new(observer))
}

fn open() -> Option<Telemetry> {
    let opened = TelemetrySettings::read(&variable)
        .and_then(|settings| settings.map(|it| Ok((SpanSender::open(&it)?, it))).transpose());
    match opened {
        Ok(opened) => {
            let (sender, settings) = opened?;
            Some(Telemetry { sender: Arc::new(sender), settings: Arc::new(settings) })
        }
        // Who cannot be told of a run does not keep it from running.
        Err(why) => {
            note(&format!("telemetry is off: {why}"));
            None
        }
    }
}

/// Sends what is left, within a time limit, and reports spans that were not sent.
pub(crate) fn finish() {
    if let Some(Some(telemetry)) = TELEMETRY.get()
        && let Some(why) = telemetry.sender.finish()
    {
        note(&why);
    }
}
