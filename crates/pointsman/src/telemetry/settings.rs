//! OpenTelemetry's usual variables, as far as they are supported.

use std::time::Duration;

use opentelemetry::{
    KeyValue,
    trace::{SpanKind, TraceId},
};
use opentelemetry_otlp::Protocol;
use opentelemetry_sdk::{
    Resource,
    trace::{Sampler, SamplingDecision, ShouldSample as _},
};
use reqwest::Url;

use super::names;

/// How long a request may take if no variable says so: OpenTelemetry's own default.
const TIMEOUT: Duration = Duration::from_secs(10);

/// What to send, and how.
#[derive(Clone, Debug)]
pub(super) struct TelemetrySettings {
    /// Where the spans go, as people may read it.
    pub(super) endpoint: Box<str>,
    pub(super) protocol: Protocol,
    pub(super) timeout: Duration,
    /// Whether the words of people, models and tools are sent too.
    pub(super) content: bool,
    sampler: Sampler,
}

impl TelemetrySettings {
    /// Reads the variables. Returns nothing if no endpoint is named, or spans are turned off.
    pub(super) fn read(variable: &dyn Fn(&str) -> Option<String>) -> Result<Option<Self>, String> {
        // The variable of traces wins over the one of all signals.
        let either = |name: &str| {
            variable(&format!("OTEL_EXPORTER_OTLP_TRACES_{name}"))
                .or_else(|| variable(&format!("OTEL_EXPORTER_OTLP_{name}")))
        };
        let is = |name: &str, value: &str| {
            variable(name).is_some_and(|it| it.trim().eq_ignore_ascii_case(value))
        };
        let Some(endpoint) = either("ENDPOINT") else { return Ok(None) };
        if is("OTEL_SDK_DISABLED", "true") || is("OTEL_TRACES_EXPORTER", "none") {
            return Ok(None);
        }
        let endpoint = plain(&endpoint).ok_or_else(|| {
            "OTEL_EXPORTER_OTLP_ENDPOINT is not an address; write http://HOST:4318".to_owned()
        })?;
        let protocol = match either("PROTOCOL").as_deref() {
            None | Some("http/protobuf") => Protocol::HttpBinary,
            Some("http/json") => Protocol::HttpJson,
            Some(other) => {
                return Err(format!(
                    "OTEL_EXPORTER_OTLP_PROTOCOL is `{other}`; use `http/protobuf` or `http/json`, and the \
                     collector's port for HTTP (4318)"
                ));
            }
        };
        let timeout = either("TIMEOUT").and_then(|ms| ms.trim().parse().ok());
        let timeout = timeout.map_or(TIMEOUT, Duration::from_millis);
        let content = variable("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT");
        let content = content.is_some_and(|it| {
            ["true", "span_only", "span_and_event"].contains(&it.trim().to_lowercase().as_str())
        });
        let sampler = sampler(variable)?;
        Ok(Some(Self { endpoint, protocol, timeout, content, sampler }))
    }

    /// Returns whether the spans of a trace are sent.
    pub(super) fn samples(&self, trace: TraceId) -> bool {
        let kind = SpanKind::Internal;
        let sampled = self.sampler.should_sample(None, trace, names::INVOKE_AGENT, &kind, &[], &[]);
        sampled.decision == SamplingDecision::RecordAndSample
    }

    /// Returns what the spans are about: this service.
    pub(super) fn resource() -> Resource {
        let named = std::env::var("OTEL_SERVICE_NAME").is_ok_and(|name| !name.is_empty())
            || std::env::var("OTEL_RESOURCE_ATTRIBUTES")
                .is_ok_and(|it| it.contains("service.name="));
        let resource = Resource::builder()
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
        let resource = if named { resource } else { resource.with_service_name("pointsman") };
        resource.build()
    }
}

/// Returns an address without a password.
fn plain(endpoint: &str) -> Option<Box<str>> {
    let mut url = Url::parse(endpoint.trim()).ok()?;
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    // Only an address that cannot have them refuses to lose them.
    let cleared = url.set_username("").and_then(|()| url.set_password(None));
    url.set_query(None);
    cleared.ok().map(|()| url.as_str().into())
}

/// Returns which runs are sent. A run is a trace of its own, so a sampler that follows its parent is the one
/// for traces without a parent.
fn sampler(variable: &dyn Fn(&str) -> Option<String>) -> Result<Sampler, String> {
    let Some(name) = variable("OTEL_TRACES_SAMPLER") else { return Ok(Sampler::AlwaysOn) };
    let name = name.trim();
    match name.strip_prefix("parentbased_").unwrap_or(name) {
        "always_on" => Ok(Sampler::AlwaysOn),
        "always_off" => Ok(Sampler::AlwaysOff),
        "traceidratio" => {
            let share = variable("OTEL_TRACES_SAMPLER_ARG").map_or(Ok(1.0), |it| it.trim().parse());
            let share = share.ok().filter(|share| (0.0..=1.0).contains(share));
            share.map(Sampler::TraceIdRatioBased).ok_or_else(|| {
                "OTEL_TRACES_SAMPLER_ARG is not a valid ratio; write a number from 0 to 1".into()
            })
        }
        _ => Err(format!(
            "OTEL_TRACES_SAMPLER is `{name}`; use `always_on`, `always_off` or `traceidratio`"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Option<TelemetrySettings>, String> {
        let owned = |name: &str| {
            let found = variables.iter().find(|(it, _)| *it == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        TelemetrySettings::read(&owned)
    }

    const ENDPOINT: (&str, &str) =
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:word@collector:4318?k=v");

    #[test]
    fn off_unless_an_endpoint_is_named() {
        let off = |variables: &[(&str, &str)]| matches!(read(variables), Ok(None));
        assert!(off(&[]));
        assert!(off(&[("OTEL_SERVICE_NAME", "mine")]));
        assert!(!off(&[ENDPOINT]));
        assert!(off(&[ENDPOINT, ("OTEL_SDK_DISABLED", "true")]));
        assert!(!off(&[ENDPOINT, ("OTEL_SDK_DISABLED", "no")]));
        assert!(off(&[ENDPOINT, ("OTEL_TRACES_EXPORTER", "none")]));
        assert!(!off(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://collector/v1/traces")]));
    }

    #[test]
    fn passwords_of_an_endpoint_are_never_shown() {
        let settings = read(&[ENDPOINT]).expect("it is valid").expect("it is on");
        assert_eq!(&*settings.endpoint, "http://collector:4318/");
    }

    #[test]
    fn content_is_opt_in() {
        let content = |value: Option<&str>| {
            let name = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";
            let given = value.map(|value| (name, value));
            let variables: Vec<_> = [ENDPOINT].into_iter().chain(given).collect();
            read(&variables).expect("it is valid").expect("it is on").content
        };
        for off in [None, Some("false"), Some("NO_CONTENT"), Some("EVENT_ONLY"), Some("maybe")] {
            assert!(!content(off), "{off:?}");
        }
        for on in ["true", "SPAN_ONLY", "SPAN_AND_EVENT", " span_only "] {
            assert!(content(Some(on)), "{on}");
        }
    }

    #[test]
    fn mistakes_say_what_to_write() {
        let why = |variable| read(&[ENDPOINT, variable]).expect_err("it is wrong");
        assert!(why(("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")).contains("http/protobuf"));
        assert!(why(("OTEL_TRACES_SAMPLER", "sometimes")).contains("always_on"));
        let share =
            [ENDPOINT, ("OTEL_TRACES_SAMPLER", "traceidratio"), ("OTEL_TRACES_SAMPLER_ARG", "2")];
        assert!(read(&share).expect_err("it is wrong").contains("from 0 to 1"));
        let place = read(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318")]);
        assert!(place.expect_err("it is wrong").contains("http://HOST:4318"));
    }

    #[test]
    fn a_sampler_chooses_whole_runs() {
        let settings = |sampler: &str, share: &str| {
            let given =
                [ENDPOINT, ("OTEL_TRACES_SAMPLER", sampler), ("OTEL_TRACES_SAMPLER_ARG", share)];
            read(&given).expect("it is valid").expect("it is on")
        };
        let traces: Vec<_> = (1..=400_u128)
            .map(|it| TraceId::from(it.wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835)))
            .collect();
        let sampled = |settings: TelemetrySettings| {
            traces.iter().filter(|trace| settings.samples(**trace)).count()
        };
        assert_eq!(sampled(settings("parentbased_always_on", "0")), 400);
        assert_eq!(sampled(settings("always_off", "1")), 0);
        assert!((100..300).contains(&sampled(settings("parentbased_traceidratio", "0.5"))));
    }
}
