//! Sends spans in the background: a full queue drops them, and a run never waits.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use opentelemetry_otlp::{WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    trace::{BatchSpanProcessor, SpanData, SpanExporter, SpanProcessor as _},
};
use reqwest::{blocking::Client, redirect::Policy};

use super::settings::TelemetrySettings;

/// How long the end of the program waits for the last spans.
const LAST: Duration = Duration::from_secs(5);

/// Queues spans, and sends them in batches.
#[derive(Debug)]
pub(super) struct SpanSender {
    processor: BatchSpanProcessor,
    endpoint: Box<str>,
    queued: AtomicU64,
    deliveries: Arc<Deliveries>,
}

impl SpanSender {
    pub(super) fn open(settings: &TelemetrySettings) -> Result<Self, String> {
        let exporter = opentelemetry_otlp::SpanExporter::builder()
            .with_http()
            .with_http_client(client(settings.timeout)?)
            .with_protocol(settings.protocol)
            .build()
            .map_err(|error| error.to_string())?;
        let deliveries = Arc::new(Deliveries::new(&settings.endpoint));
        let watched = WatchedExporter { exporter, deliveries: Arc::clone(&deliveries) };
        let mut processor = BatchSpanProcessor::builder(watched).build();
        processor.set_resource(&TelemetrySettings::resource());
        let (endpoint, queued) = (settings.endpoint.clone(), AtomicU64::new(0));
        Ok(Self { processor, endpoint, queued, deliveries })
    }

    /// Queues a span. If the queue is full, it is dropped.
    pub(super) fn send(&self, span: SpanData) {
        self.queued.fetch_add(1, Ordering::Relaxed);
        self.processor.on_end(span);
    }

    /// Sends what is queued, within a time limit. Returns a warning if spans were not sent.
    pub(super) fn finish(&self) -> Option<String> {
        let ended = self.processor.shutdown_with_timeout(LAST);
        let queued = self.queued.load(Ordering::Relaxed);
        let lost = queued.saturating_sub(self.deliveries.sent.load(Ordering::Relaxed));
        let why = match (self.deliveries.why(), ended) {
            (Some(why), _) => why,
            (None, Err(error)) => error.to_string(),
            (None, Ok(())) => "the queue was full".into(),
        };
        let endpoint = &self.endpoint;
        (lost > 0).then(|| {
            format!(
                "warning: {lost} of {queued} telemetry spans were not sent to {endpoint}: {why}"
            )
        })
    }
}

/// Returns a client. It is made on a thread of its own, since a client that blocks cannot be made where runs are
/// driven.
fn client(timeout: Duration) -> Result<Client, String> {
    let build = move || {
        // Another part of the program may have done so already.
        drop(rustls::crypto::ring::default_provider().install_default());
        // The headers may hold a key, which is for that one server.
        Client::builder().timeout(timeout).redirect(Policy::none()).build()
    };
    match std::thread::spawn(build).join() {
        Ok(client) => client.map_err(|error| error.to_string()),
        Err(_) => Err("internal error (panic); see the log".into()),
    }
}

/// What became of the spans that left the queue.
#[derive(Debug)]
struct Deliveries {
    endpoint: Box<str>,
    sent: AtomicU64,
    /// Why the first batch that was not sent was not.
    failure: Mutex<Option<String>>,
}

impl Deliveries {
    fn new(endpoint: &str) -> Self {
        Self { endpoint: endpoint.into(), sent: AtomicU64::new(0), failure: Mutex::default() }
    }

    fn why(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps the first failure, and logs it: a dead endpoint is one warning.
    fn failed(&self, why: &str) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        if failure.is_none() {
            tracing::warn!(endpoint = %self.endpoint, %why, "spans_not_sent");
            *failure = Some(why.to_owned());
        }
    }
}

/// An exporter whose deliveries are counted.
#[derive(Debug)]
struct WatchedExporter {
    exporter: opentelemetry_otlp::SpanExporter,
    deliveries: Arc<Deliveries>,
}

impl SpanExporter for WatchedExporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let count = u64::try_from(batch.len()).unwrap_or(u64::MAX);
        let sent = self.exporter.export(batch).await;
        match &sent {
            Ok(()) => drop(self.deliveries.sent.fetch_add(count, Ordering::Relaxed)),
            Err(error) => self.deliveries.failed(&error.to_string()),
        }
        sent
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}
