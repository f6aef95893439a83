//! `http_get`: a text page from the network, and nothing from this machine or its
//! neighbours.

use std::{
    error::Error,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};

use pointsman_agents::FROM;
use pointsman_kernel::governor::Grant;
use reqwest::{
    Client, Response, Url,
    dns::{Addrs, Name, Resolve, Resolving},
    header::{CONTENT_TYPE, HeaderMap, LOCATION},
    redirect::Policy,
};
use serde::Deserialize;
use serde_json::{Value, json};
use thiserror::Error;

use super::{
    Arguments, Tool, ToolContext, ToolFuture, ToolKind, ToolOutput, ToolSpec, View, WorkspaceTools,
    contract::every,
    done, fitting,
    grant::{exactly, rules},
    limits::ToolLimits,
    schema::{spec, words},
    stream::cut,
};
use crate::effect::ProgressSink;

/// Bytes between two progress reports of a page.
const TOLD_EVERY: usize = 64 << 10;

const NAME: &str = "http_get";

/// Fetches a page.
pub(super) struct HttpGetTool;

impl Tool for HttpGetTool {
    fn name(&self) -> &str {
        NAME
    }

    fn spec(&self, _: &ToolLimits) -> Option<ToolSpec> {
        Some(spec(
            NAME,
            "Fetches a text page over http or https.",
            json!({ "url": words("The address, with its scheme.") }),
            &["url"],
        ))
    }

    fn call<'a>(&'a self, calling: ToolContext<'a>, arguments: Value) -> ToolFuture<'a> {
        Box::pin(async move {
            let arguments = match fitting(arguments) {
                Ok(arguments) => arguments,
                Err(done) => return done,
            };
            let ToolContext { tools, permit, shown, .. } = calling;
            let http = tools.0.http.get_or_init(|| Http::new(tools.0.settings.http_private));
            done(match http {
                Ok(http) => http.call(tools.limits(), &arguments, &permit.to_string(), shown).await,
                Err(why) => ToolOutput::no(format!("pages cannot be fetched here: {why}")),
            })
        })
    }

    fn refuses(&self, tools: &WorkspaceTools, arguments: &Value) -> Option<String> {
        HttpGet::deserialize(arguments).ok()?.refused(tools.0.settings.http_private)
    }

    fn describe(&self, arguments: &Arguments, view: &View<'_>) -> Option<String> {
        Some(format!("fetch {}", view.line(arguments.text("url")?)))
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Fetch
    }

    fn always(&self, arguments: &Arguments) -> Option<Vec<Grant>> {
        let url = arguments.text("url").unwrap_or_default();
        let mut rules = rules(NAME, "url", exactly(url));
        rules.push(every(NAME));
        Some(rules)
    }
}

/// The arguments of `http_get`.
#[derive(Debug, Deserialize)]
struct HttpGet {
    url: String,
}

/// Why a page cannot be had.
#[derive(Debug, Error)]
enum HttpError {
    #[error("`{0}` is not a web address: {1}")]
    Url(String, String),
    #[error("only http and https are supported, not `{0}`")]
    Scheme(String),
    #[error("addresses with a user name or password are not allowed")]
    Login,
    #[error("{0}")]
    Private(#[from] Private),
    #[error("there were more than {0} redirects")]
    Redirects(usize),
    #[error("the redirect has no target")]
    Nowhere,
    #[error("the page is not text but `{0}`")]
    NotText(String),
    #[error("it took longer than {0} ms")]
    Timeout(u64),
    #[error("it cannot be fetched: {0}")]
    Failed(String),
}

/// An address that is this machine's or its neighbours'.
#[derive(Clone, Debug, Error)]
#[error(
    "{0} resolves to {1}, an address of this machine or its local network; to allow such \
     addresses, set `private_addresses = true` in `[sandbox]` of the settings"
)]
struct Private(String, IpAddr);

/// Fetches pages.
#[derive(Clone, Debug)]
pub(super) struct Http {
    client: Client,
    private: bool,
}

impl Http {
    /// Returns a client that goes to the addresses it has looked at, and to no proxy.
    fn new(private: bool) -> Result<Self, String> {
        // Another part of the program may have chosen it already.
        drop(rustls::crypto::ring::default_provider().install_default());
        let client = Client::builder()
            .user_agent(concat!("pointsman/", env!("CARGO_PKG_VERSION")))
            .dns_resolver(Checked { private })
            .redirect(Policy::none())
            .referer(false)
            .no_proxy()
            .build()
            .map_err(|error| causes(&error))?;
        Ok(Self { client, private })
    }

    /// Fetches a page. Dropping the future closes the connection.
    async fn call(
        &self,
        limits: &ToolLimits,
        arguments: &HttpGet,
        key: &str,
        shown: &ProgressSink,
    ) -> ToolOutput {
        let limit = Duration::from_millis(limits.http_ms);
        let fetching = self.fetch(limits, &arguments.url, key, shown);
        let fetched = tokio::time::timeout(limit, fetching).await;
        match fetched.unwrap_or(Err(HttpError::Timeout(limits.http_ms))) {
            Ok(said) => said,
            Err(error) => ToolOutput::no(error),
        }
    }

    async fn fetch(
        &self,
        limits: &ToolLimits,
        url: &str,
        key: &str,
        progress: &ProgressSink,
    ) -> Result<ToolOutput, HttpError> {
        let shown: String = url.chars().take(200).collect();
        let mut url = Url::parse(url).map_err(|error| HttpError::Url(shown, error.to_string()))?;
        for _ in 0..=limits.redirects {
            self.check(&url)?;
            let sent = self.client.get(url.clone()).header("Idempotency-Key", key).send().await;
            let response = sent.map_err(|error| sorted(&error))?;
            if !response.status().is_redirection() {
                return page(response, &url, limits, progress).await;
            }
            let place = response.headers().get(LOCATION).and_then(|place| place.to_str().ok());
            let Some(place) = place else { return Err(HttpError::Nowhere) };
            let next = url.join(place);
            url = next.map_err(|error| HttpError::Url(place.into(), error.to_string()))?;
        }
        Err(HttpError::Redirects(limits.redirects))
    }

    /// Refuses what must not be asked for; names are looked at once they are resolved.
    fn check(&self, url: &Url) -> Result<(), HttpError> {
        check(url, self.private)
    }
}

impl HttpGet {
    /// Returns why the address is refused, as far as its text tells.
    fn refused(&self, private: bool) -> Option<String> {
        let shown: String = self.url.chars().take(200).collect();
        let url = Url::parse(&self.url).map_err(|error| HttpError::Url(shown, error.to_string()));
        url.and_then(|url| check(&url, private)).err().map(|error| error.to_string())
    }
}

fn check(url: &Url, private: bool) -> Result<(), HttpError> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(HttpError::Scheme(url.scheme().into()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(HttpError::Login);
    }
    let host = url.host_str().unwrap_or_default();
    let literal = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    let own = host == "localhost" || host.ends_with(".localhost");
    match literal {
        _ if private => Ok(()),
        Ok(address) if !is_public(address) => Err(Private(host.into(), address).into()),
        Err(_) if own => Err(Private(host.into(), Ipv4Addr::LOCALHOST.into()).into()),
        _ => Ok(()),
    }
}

/// Reads a page up to the limit.
async fn page(
    mut response: Response,
    url: &Url,
    limits: &ToolLimits,
    progress: &ProgressSink,
) -> Result<ToolOutput, HttpError> {
    let status = response.status();
    let kind = content_type(response.headers());
    if !is_text(&kind) {
        return Err(HttpError::NotText(kind));
    }
    let (mut body, mut whole, mut told) = (Vec::new(), true, 0);
    while let Some(chunk) = response.chunk().await.map_err(|error| sorted(&error))? {
        let room = limits.http_bytes.saturating_sub(body.len());
        body.extend(chunk.iter().take(room));
        if body.len() / TOLD_EVERY > told {
            told = body.len() / TOLD_EVERY;
            progress.show(&format!("{} bytes\n", body.len()));
        }
        if chunk.len() > room {
            whole = false;
            break;
        }
    }
    if body.contains(&0) {
        return Err(HttpError::NotText("binary data".into()));
    }
    let text = cut(&String::from_utf8_lossy(&body), limits.output_bytes);
    let rest = if whole {
        String::new()
    } else {
        format!("\n[only the first {} bytes were read]", limits.http_bytes)
    };
    let output = format!("{}{FROM}{url}, {kind}\n{text}{rest}", status.as_u16());
    Ok(ToolOutput { ok: status.is_success(), ..ToolOutput::yes(output) })
}

fn content_type(headers: &HeaderMap) -> String {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.map_or_else(|| "text/plain".into(), |kind| kind.trim().to_lowercase())
}

fn is_text(kind: &str) -> bool {
    let kind = kind.split(';').next().unwrap_or_default().trim();
    let application = kind.strip_prefix("application/").unwrap_or_default();
    kind.starts_with("text/")
        || ["json", "xml", "yaml", "toml", "javascript", "x-ndjson"].contains(&application)
        || application.ends_with("+json")
        || application.ends_with("+xml")
        || application == "x-yaml"
        || kind == "image/svg+xml"
}

/// Resolves names, and rejects a name with a private address: which one a connection would use is
/// unknown.
struct Checked {
    private: bool,
}

impl Resolve for Checked {
    fn resolve(&self, name: Name) -> Resolving {
        let private = self.private;
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found = tokio::net::lookup_host((host.as_str(), 0)).await?;
            let found: Vec<SocketAddr> = found.collect();
            match found.iter().find(|address| !private && !is_public(address.ip())) {
                Some(address) => Err(Private(host, address.ip()).into()),
                None => Ok(Box::new(found.into_iter()) as Addrs),
            }
        })
    }
}

/// Returns whether an address is one of the open network.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_documentation()
        || address.is_multicast()
        || a == 0
        || a >= 240
        // Shared by carriers, set apart for protocols, and for benchmarks.
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 198 && (18..20).contains(&b)))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let [a, b, .., y, z] = segments;
    let inner = Ipv4Addr::from(u32::from(y) << 16 | u32::from(z));
    match segments {
        // An embedded IPv4 address counts as that address.
        [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => is_public_v4(inner),
        [0x2002, high, low, ..] => {
            is_public_v4(Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)))
        }
        // Of the rest, only the space that is given out; not tunnels, not examples.
        _ => a & 0xe000 == 0x2000 && !(a == 0x2001 && (b < 0x200 || b == 0xdb8)),
    }
}

/// Says why a request failed: a refusal of ours lies under what the client makes of it.
fn sorted(error: &reqwest::Error) -> HttpError {
    let mut cause: Option<&dyn Error> = Some(error);
    while let Some(this) = cause {
        if let Some(private) = this.downcast_ref::<Private>() {
            return HttpError::Private(private.clone());
        }
        cause = this.source();
    }
    HttpError::Failed(causes(error))
}

fn causes(error: &dyn Error) -> String {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(this) = cause {
        said.push_str(": ");
        said.push_str(&this.to_string());
        cause = this.source();
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_this_machine_and_its_network_are_not_public() {
        for address in [
            "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "192.0.0.8",
            "198.18.0.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001:db8::1",
            "2001::1",
            "::127.0.0.1",
        ] {
            assert!(!is_public(address.parse().expect("the text is an address")), "{address}");
        }
        for address in ["1.1.1.1", "8.8.8.8", "172.32.0.1", "2606:4700::1111", "::ffff:1.1.1.1"] {
            assert!(is_public(address.parse().expect("the text is an address")), "{address}");
        }
    }

    #[test]
    fn text_and_binary_files_are_distinguished() {
        for kind in ["text/html; charset=utf-8", "application/json", "application/ld+json"] {
            assert!(is_text(kind), "{kind}");
        }
        for kind in ["image/png", "application/octet-stream", "application/zip", ""] {
            assert!(!is_text(kind), "{kind}");
        }
    }
}
