//! Who may send which request, and how much of the server one client gets.
//!
//! Every request passes [`admit`]: its Host, its origin, its client's rate, its token. Every route
//! with a body or with data passes [`permit`], which knows the role that it needs. A route behind
//! `permit` alone answers nothing: it misses what `admit` found.

mod hosts;
mod rate;

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use axum::{
    Extension,
    body::{Body, Bytes, HttpBody as _},
    extract::{ConnectInfo, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header, uri::Authority},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use futures_util::StreamExt as _;
use pointsman_runtime::{clock::now_ms, config::ServeConfig};
use tokio::sync::{Semaphore, watch};

use super::{
    metrics::{HttpMetrics, RefusalReason},
    page,
    problem::HttpProblem,
};
use crate::tokens::{Role, TokenFile, TokenRecord};
pub(super) use hosts::HostRules;
use rate::RateLimiter;

/// Failed authentications of one client that are answered at once, and those per second after.
const FAILURES: (f64, f64) = (10.0, 1.0);
/// How long bodies that are on their way have to arrive when the server stops.
const STOPPING: Duration = Duration::from_secs(1);
/// Characters of a path in the log.
const LOGGED: usize = 200;
/// Paths that tell nothing but whether the server works: probes have no token.
const PROBES: [&str; 2] = ["/healthz", "/readyz"];
/// Headers that a proxy adds: behind one, a request from this machine may come from anywhere.
const FORWARDED: [&str; 5] =
    ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"];

/// The limits of a guard.
#[derive(Clone, Debug)]
pub(crate) struct GuardOptions {
    /// Names of the server besides its own address.
    pub(crate) allow_hosts: Vec<String>,
    /// Whether reading needs a token on loopback, too.
    pub(crate) require_token: bool,
    /// The longest body.
    pub(crate) body_bytes: usize,
    /// The time for a whole body.
    pub(crate) body_timeout: Duration,
    /// The time for a request's head, and for an idle connection.
    pub(crate) header_timeout: Duration,
    /// How long a client may take none of what is sent to it.
    pub(crate) write_timeout: Duration,
    /// Open connections.
    pub(crate) connections: usize,
    /// Open event streams.
    pub(crate) streams: usize,
    /// Requests per second of one client.
    pub(crate) rate: u32,
}

impl Default for GuardOptions {
    fn default() -> Self {
        Self {
            allow_hosts: Vec::new(),
            require_token: false,
            body_bytes: 1 << 20,
            body_timeout: Duration::from_secs(30),
            header_timeout: Duration::from_secs(10),
            write_timeout: Duration::from_mins(1),
            connections: 512,
            streams: 256,
            rate: 500,
        }
    }
}

impl GuardOptions {
    /// Returns the limits that the settings ask for.
    pub(super) fn of(config: &ServeConfig) -> Self {
        let usual = Self::default();
        Self {
            allow_hosts: config.allow_hosts.clone().unwrap_or_default(),
            require_token: config.require_token.unwrap_or(usual.require_token),
            body_bytes: config.body_bytes.unwrap_or(usual.body_bytes),
            body_timeout: config.body.unwrap_or(usual.body_timeout),
            header_timeout: config.header.unwrap_or(usual.header_timeout),
            write_timeout: config.write.unwrap_or(usual.write_timeout),
            connections: config.connections.unwrap_or(usual.connections),
            streams: config.streams.unwrap_or(usual.streams),
            rate: config.rate.unwrap_or(usual.rate),
        }
    }
}

/// What a request may do.
#[derive(Clone, Debug)]
pub(super) struct Access {
    /// Nothing, where a token is missing.
    role: Option<Role>,
    /// The token that gave the role.
    token: Option<Arc<TokenRecord>>,
}

/// Why a request is refused: what its sender reads, and what is counted.
struct RefusedRequest {
    problem: Box<HttpProblem>,
    reason: RefusalReason,
    header: Option<(HeaderName, HeaderValue)>,
}

impl RefusedRequest {
    fn new(reason: RefusalReason, status: StatusCode, detail: &str, hint: &str) -> Self {
        let problem = Box::new(HttpProblem::new(status, detail, hint));
        Self { problem, reason, header: None }
    }

    fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.header = Some((name, value));
        self
    }

    fn later(self, wait: Duration) -> Self {
        let seconds = wait.as_secs().saturating_add(1);
        self.with(header::RETRY_AFTER, HeaderValue::from(seconds))
    }

    fn unauthorized(detail: &str, hint: &str) -> Self {
        let refused = Self::new(RefusalReason::Token, StatusCode::UNAUTHORIZED, detail, hint);
        refused.with(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
    }
}

/// Admits requests.
#[derive(Debug)]
pub(super) struct Guard {
    options: GuardOptions,
    hosts: HostRules,
    tokens: TokenFile,
    /// Whether requests without a token may read.
    open: bool,
    requests: RateLimiter,
    /// Requests with a valid token, by its id: a flood from the same address is none of its business.
    trusted: RateLimiter,
    failures: RateLimiter,
    streams: Arc<Semaphore>,
    metrics: Arc<HttpMetrics>,
    /// Becomes true when the server stops.
    closing: watch::Receiver<bool>,
}

impl Guard {
    pub(super) fn new(
        address: SocketAddr,
        tls: bool,
        tokens: TokenFile,
        options: GuardOptions,
        metrics: Arc<HttpMetrics>,
        closing: watch::Receiver<bool>,
    ) -> Self {
        let open = address.ip().to_canonical().is_loopback()
            && options.allow_hosts.is_empty()
            && !options.require_token;
        let rate = f64::from(options.rate);
        Self {
            hosts: HostRules::new(address, tls, &options.allow_hosts),
            tokens,
            open,
            requests: RateLimiter::new(rate * 2.0, rate),
            trusted: RateLimiter::new(rate * 2.0, rate),
            failures: RateLimiter::new(FAILURES.0, FAILURES.1),
            streams: Arc::new(Semaphore::new(options.streams)),
            options,
            metrics,
            closing,
        }
    }

    /// Looks at everything but the body.
    fn look_at(&self, request: &Request) -> Result<Access, RefusedRequest> {
        let headers = request.headers();
        let host = self.host(request)?;
        from_here(request, &host)?;
        let client = client(request);
        if headers.contains_key(header::AUTHORIZATION) {
            return self.by_token(headers, &host, client);
        }
        too_fast(self.requests.take(client))?;
        let forwarded = FORWARDED.iter().any(|name| headers.contains_key(*name));
        // A name of the server that is not its loopback address is known to more than this machine.
        let open = self.open && !forwarded && self.hosts.is_loopback(&host);
        let role = open.then_some(Role::Read);
        let path = request.uri().path();
        if role.is_none() && !PROBES.contains(&path) && !page::is_part(path) {
            return Err(RefusedRequest::unauthorized("this request needs a token", TOKEN_HINT));
        }
        Ok(Access { role, token: None })
    }

    /// Returns the host that the request is for, if it is one of this server's.
    fn host(&self, request: &Request) -> Result<String, RefusedRequest> {
        let mut named = request.headers().get_all(header::HOST).iter();
        let host =
            named.next().and_then(|host| host.to_str().ok()).filter(|_| named.next().is_none());
        let target = request.uri().authority().map(Authority::as_str);
        let host = host.map(str::to_ascii_lowercase).filter(|host| {
            self.hosts.allows(host) && target.is_none_or(|it| it.eq_ignore_ascii_case(host))
        });
        host.ok_or_else(|| {
            RefusedRequest::new(
                RefusalReason::Host,
                StatusCode::MISDIRECTED_REQUEST,
                "this server does not serve the host that the request names",
                "use the address that the server printed, or add the name to `allow_hosts` of `[serve]`",
            )
        })
    }

    fn by_token(
        &self,
        headers: &HeaderMap,
        host: &str,
        client: IpAddr,
    ) -> Result<Access, RefusedRequest> {
        let found = match bearer(headers).map(|token| self.tokens.find(token)) {
            Some(Err(error)) => {
                tracing::error!(%error, "the tokens cannot be read");
                let (status, hint) = (StatusCode::SERVICE_UNAVAILABLE, "see the log of the server");
                let detail = "the server cannot read its tokens";
                return Err(RefusedRequest::new(RefusalReason::Token, status, detail, hint));
            }
            Some(Ok(found)) => found,
            None => None,
        };
        let from_page = || self.hosts.is_loopback(host) && site(headers) == Some("same-origin");
        if let Some(token) = found.filter(|token| !token.page || from_page()) {
            too_fast(self.trusted.take(place_of(&token)))?;
            return Ok(Access { role: Some(token.role), token: Some(Arc::new(token)) });
        }
        too_fast(self.requests.take(client))?;
        // Nobody finds 256 bits by trying: this keeps the log readable, and never locks out a client
        // whose token is good.
        match self.failures.take(client) {
            Ok(()) => Err(RefusedRequest::unauthorized(
                "the token is unknown, expired, revoked, or not valid for this kind of client",
                TOKEN_HINT,
            )),
            Err(wait) => {
                let refused = RefusedRequest::new(
                    RefusalReason::Rate,
                    StatusCode::TOO_MANY_REQUESTS,
                    "too many requests with a wrong token",
                    TOKEN_HINT,
                );
                Err(refused.later(wait))
            }
        }
    }

    /// Returns whether what a request was admitted by still counts: a token may be revoked or expire
    /// while its request is answered.
    pub(super) fn still_admits(&self, access: &Access) -> bool {
        let Some(token) = &access.token else { return true };
        let known = self.tokens.list();
        known.is_ok_and(|known| known.contains(token)) && token.is_valid(now_ms())
    }

    /// Reads a body within the limits of size and time.
    async fn body(&self, body: Body) -> Result<Bytes, RefusedRequest> {
        let most = self.options.body_bytes;
        let too_long = || {
            RefusedRequest::new(
                RefusalReason::Body,
                StatusCode::PAYLOAD_TOO_LARGE,
                &format!("the body of the request has more than {most} bytes"),
                "`body` in `[serve]` sets the limit",
            )
        };
        // What is announced need not come.
        if body.size_hint().lower() > u64::try_from(most).unwrap_or(u64::MAX) {
            return Err(too_long());
        }
        let read = async {
            let (mut read, mut chunks) = (Vec::new(), body.into_data_stream());
            while let Some(chunk) = chunks.next().await {
                let chunk = chunk.map_err(|_| {
                    let detail = "the body of the request is incomplete";
                    RefusedRequest::new(RefusalReason::Body, StatusCode::BAD_REQUEST, detail, "")
                })?;
                if read.len() + chunk.len() > most {
                    return Err(too_long());
                }
                read.extend_from_slice(&chunk);
            }
            Ok(Bytes::from(read))
        };
        let mut closing = self.closing.clone();
        let stopped = async {
            // A sender that is gone has stopped, too.
            drop(closing.wait_for(|closing| *closing).await);
            tokio::time::sleep(STOPPING).await;
        };
        let late = |status, detail, hint| {
            let refused = RefusedRequest::new(RefusalReason::Body, status, detail, hint);
            Err(refused.with(header::CONNECTION, HeaderValue::from_static("close")))
        };
        tokio::select! {
            read = tokio::time::timeout(self.options.body_timeout, read) => {
                read.unwrap_or_else(|_| late(
                    StatusCode::REQUEST_TIMEOUT,
                    "the body of the request did not arrive in time",
                    "`body_timeout` in `[serve]` sets the limit",
                ))
            }
            () = stopped => late(
                StatusCode::SERVICE_UNAVAILABLE,
                "the server is stopping, and the body of the request has not arrived",
                "send the request again when the server is back",
            ),
        }
    }

    fn refuse(
        &self,
        client: IpAddr,
        method: &Method,
        path: &str,
        refused: RefusedRequest,
    ) -> Response {
        let RefusedRequest { problem, reason, header } = refused;
        self.metrics.refuse(reason);
        // Neither headers nor queries: a token could be in them.
        let path: String = path.chars().take(LOGGED).collect();
        if reason != RefusalReason::Rate {
            let (reason, status) = (reason.name(), problem.status());
            tracing::warn!(%client, %method, path, reason, status, "request_refused");
        }
        let mut response = (*problem).into_response();
        if let Some((name, value)) = header {
            response.headers_mut().insert(name, value);
        }
        response
    }

    /// Counts event streams: each keeps its connection.
    fn bounded(&self, response: Response) -> Result<Response, RefusedRequest> {
        let kind = response.headers().get(header::CONTENT_TYPE);
        if !kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream")) {
            return Ok(response);
        }
        let Ok(permit) = Arc::clone(&self.streams).try_acquire_owned() else {
            let refused = RefusedRequest::new(
                RefusalReason::Streams,
                StatusCode::SERVICE_UNAVAILABLE,
                "too many event streams are open",
                "try again later; `streams` in `[serve]` sets the limit",
            );
            return Err(refused.later(Duration::from_secs(1)));
        };
        Ok(response.map(|body| {
            // The permit goes with the stream.
            Body::from_stream(body.into_data_stream().inspect(move |_| {
                let _held = &permit;
            }))
        }))
    }
}

const TOKEN_HINT: &str =
    "send `Authorization: Bearer TOKEN`; `pointsman token create --role ROLE` creates a token";

/// Refuses a request that comes too soon.
fn too_fast(taken: Result<(), Duration>) -> Result<(), RefusedRequest> {
    taken.map_err(|wait| {
        let refused = RefusedRequest::new(
            RefusalReason::Rate,
            StatusCode::TOO_MANY_REQUESTS,
            "too many requests from this address, or with this token",
            "wait as long as `Retry-After` says; `rate` in `[serve]` sets the limit",
        );
        refused.later(wait)
    })
}

/// Returns the place of a token among the clients of a limit: its id has 32 bits.
fn place_of(token: &TokenRecord) -> IpAddr {
    Ipv4Addr::from_bits(u32::from_str_radix(&token.id, 16).unwrap_or(u32::MAX)).into()
}

/// Refuses requests that another site's page makes a browser send.
fn from_here(request: &Request, host: &str) -> Result<(), RefusedRequest> {
    let headers = request.headers();
    let refused = |reason, detail| {
        let hint = "pages of other sites cannot use this server";
        Err(RefusedRequest::new(reason, StatusCode::FORBIDDEN, detail, hint))
    };
    for origin in headers.get_all(header::ORIGIN) {
        let origin = origin.to_str().unwrap_or_default();
        let of = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
        if !of.is_some_and(|of| of.eq_ignore_ascii_case(host)) {
            return refused(
                RefusalReason::Origin,
                "the request comes from a page of another origin",
            );
        }
    }
    match site(headers) {
        None | Some("same-origin" | "none") => Ok(()),
        // Following a link shows a page, and its site learns nothing of it.
        Some(_) if is_navigation(request) => Ok(()),
        Some(_) => refused(RefusalReason::Site, "the request comes from a page of another site"),
    }
}

fn is_navigation(request: &Request) -> bool {
    let is = |name: &str, wanted: &str| request.headers().get(name).is_some_and(|it| it == wanted);
    request.method() == Method::GET
        && is("sec-fetch-mode", "navigate")
        && is("sec-fetch-dest", "document")
}

/// Returns what a browser says of the page that sends the request.
fn site(headers: &HeaderMap) -> Option<&str> {
    // A value that is not text is none of the good ones.
    headers.get("sec-fetch-site").map(|site| site.to_str().unwrap_or("unknown"))
}

/// Returns the token of a request that has exactly one.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    let (scheme, token) = all.next()?.to_str().ok()?.split_once(' ')?;
    (all.next().is_none() && scheme.eq_ignore_ascii_case("bearer")).then_some(token.trim())
}

/// Returns the address that a client is known by: a network of one customer is one client.
fn client(request: &Request) -> IpAddr {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    match peer.map(|ConnectInfo(peer)| peer.ip().to_canonical()) {
        Some(IpAddr::V6(ip)) => Ipv6Addr::from_bits(ip.to_bits() & !u128::from(u64::MAX)).into(),
        Some(ip) => ip,
        None => Ipv6Addr::UNSPECIFIED.into(),
    }
}

/// Admits a request, whatever it asks for.
pub(super) async fn admit(
    State(guard): State<Arc<Guard>>,
    mut request: Request,
    next: Next,
) -> Response {
    let (client, method) = (client(&request), request.method().clone());
    let path = request.uri().path().to_owned();
    let answered = match guard.look_at(&request) {
        Ok(access) => {
            request.extensions_mut().insert(access);
            guard.bounded(next.run(request).await)
        }
        Err(refused) => Err(refused),
    };
    let mut response =
        answered.unwrap_or_else(|refused| guard.refuse(client, &method, &path, refused));
    guard.metrics.answer(response.status());
    for (name, value) in HEADERS {
        response.headers_mut().entry(*name).or_insert(HeaderValue::from_static(value));
    }
    response
}

/// What every answer tells a browser, unless it says otherwise itself.
const HEADERS: &[(&str, &str)] = &[
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cache-control", "no-store"),
    ("content-security-policy", "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"),
];

/// Lets a request pass that has the role that its route needs, with its whole body.
pub(super) async fn permit(
    State((guard, needed)): State<(Arc<Guard>, Role)>,
    Extension(access): Extension<Access>,
    request: Request,
    next: Next,
) -> Response {
    let (client, method) = (client(&request), request.method().clone());
    let path = request.uri().path().to_owned();
    let refused = match access.role {
        Some(role) if role >= needed => {
            let (parts, body) = request.into_parts();
            match guard.body(body).await {
                Ok(body) => return next.run(Request::from_parts(parts, body.into())).await,
                Err(refused) => refused,
            }
        }
        Some(role) if access.token.is_some() => RefusedRequest::new(
            RefusalReason::Role,
            StatusCode::FORBIDDEN,
            &format!("the token has the role `{role}`, but this request needs `{needed}`"),
            "`pointsman token create --role ROLE` creates another token",
        ),
        _ => RefusedRequest::unauthorized("changes need a token", TOKEN_HINT),
    };
    guard.refuse(client, &method, &path, refused)
}
