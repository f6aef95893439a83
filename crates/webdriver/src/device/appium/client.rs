//! WebDriver over HTTP: one call, one answer, each within a limit.

use std::{error::Error, io, time::Duration};

use reqwest::{Client, Method, Url, redirect::Policy};
use serde::Deserialize;
use serde_json::{Value, json};

/// Bytes of an answer that are read: a screenshot of a large screen is a few million.
const MOST: usize = 64 << 20;

/// A WebDriver server, by its address.
#[derive(Clone, Debug)]
pub(super) struct WebDriverClient {
    client: Client,
    base: Url,
}

/// Why a call failed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum WireError {
    /// No server listens there, or the connection failed.
    Unreachable(String),
    /// No answer came in time.
    Late(Duration),
    /// The answer is not WebDriver's.
    Foreign(String),
    /// The server answered with an error.
    Said(ErrorBody),
}

/// An error as the protocol has it.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq)]
pub(super) struct ErrorBody {
    /// The protocol's code, such as `no such element`.
    pub(super) error: String,
    /// What the driver has to say.
    #[serde(default)]
    pub(super) message: String,
}

impl WebDriverClient {
    /// Makes a client. Nothing is sent yet.
    pub(super) fn new(address: &str, connect: Duration) -> Result<Self, String> {
        let mut base = Url::parse(address).map_err(|error| error.to_string())?;
        if !matches!(base.scheme(), "http" | "https") || base.host_str().is_none() {
            return Err("it is not a web address".into());
        }
        base.set_query(None);
        base.set_fragment(None);
        // Fails only where a provider is installed already, and then there is one.
        drop(rustls::crypto::ring::default_provider().install_default());
        let mut client = Client::builder()
            .user_agent(concat!("pointsman/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .referer(false)
            .tcp_nodelay(true)
            .connect_timeout(connect);
        if base.scheme() == "http" {
            // A system without CA certificates can still ask a server on this machine.
            client = client.tls_certs_only([]);
        }
        if is_loopback(&base) {
            client = client.no_proxy();
        }
        let client = client.build().map_err(|error| root(&error))?;
        Ok(Self { client, base })
    }

    /// Returns the server's address, without the password that it may hold.
    pub(super) fn address(&self) -> String {
        let mut shown = self.base.clone();
        if shown.password().is_some() {
            // Fails for addresses without a host, and this one has one.
            let _: Result<(), ()> = shown.set_password(Some("***"));
        }
        shown.to_string()
    }

    /// Makes a call and returns the value of the answer.
    pub(super) async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        limit: Duration,
    ) -> Result<Value, WireError> {
        let url = format!("{}/{path}", self.base.as_str().trim_end_matches('/'));
        let mut request = self.client.request(method.clone(), url).timeout(limit);
        if method == Method::POST {
            // The protocol wants an object, even of calls that take nothing.
            let body = body.map_or_else(|| json!({}).to_string(), Value::to_string);
            request = request.header("content-type", "application/json; charset=utf-8").body(body);
        }
        let broken = |error: reqwest::Error| broken(&error, limit);
        let mut response = request.send().await.map_err(broken)?;
        let status = response.status();
        let mut bytes = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(broken)? {
            bytes.extend_from_slice(&piece);
            if bytes.len() > MOST {
                return Err(WireError::Foreign(format!("a response of more than {MOST} bytes")));
            }
        }
        read(status.as_u16(), &bytes)
    }
}

/// Reads the value of an answer, or the error that it is.
fn read(status: u16, bytes: &[u8]) -> Result<Value, WireError> {
    let answer: Result<Value, _> = serde_json::from_slice(bytes);
    let value = match answer {
        Ok(Value::Object(mut answer)) if answer.contains_key("value") => {
            answer.remove("value").unwrap_or_default()
        }
        _ => {
            let start = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned();
            return Err(WireError::Foreign(format!("status {status}, `{}`", start.trim())));
        }
    };
    if (200..300).contains(&status) {
        return Ok(value);
    }
    match serde_json::from_value::<ErrorBody>(value) {
        Ok(said) => Err(WireError::Said(said)),
        Err(_) => Err(WireError::Foreign(format!("status {status} without an error in it"))),
    }
}

fn broken(error: &reqwest::Error, limit: Duration) -> WireError {
    if error.is_timeout() && !error.is_connect() {
        return WireError::Late(limit);
    }
    WireError::Unreachable(root(error))
}

/// Returns the last of an error's causes: it says what happened, the others say where.
fn root(error: &(dyn Error + 'static)) -> String {
    let mut cause = error;
    loop {
        let wrapped = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        match wrapped.map(|it| it as &(dyn Error + 'static)).or_else(|| cause.source()) {
            Some(deeper) => cause = deeper,
            None => return cause.to_string(),
        }
    }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_values_or_errors() {
        assert_eq!(read(200, br#"{"value":null}"#), Ok(Value::Null));
        assert_eq!(
            read(200, br#"{"value":{"error":"a page's own"}}"#),
            Ok(json!({"error": "a page's own"}))
        );
        let said = ErrorBody { error: "timeout".into(), message: "late".into() };
        let answer = br#"{"value":{"error":"timeout","message":"late","stacktrace":"x"}}"#;
        assert_eq!(read(500, answer), Err(WireError::Said(said)));
        for (status, text) in
            [(200, "hello"), (200, "{}"), (502, "<html>"), (500, r#"{"value":1}"#)]
        {
            assert!(matches!(read(status, text.as_bytes()), Err(WireError::Foreign(_))), "{text}");
        }
    }

    #[test]
    fn only_web_addresses_without_passwords_are_accepted() {
        let wire = |address: &str| WebDriverClient::new(address, Duration::from_secs(1));
        for wrong in ["", "127.0.0.1:4723", "file:///tmp", "http://"] {
            assert!(wire(wrong).is_err(), "{wrong}");
        }
        let shown = wire("http://me:secret@127.0.0.1:4723/wd/hub").map(|it| it.address());
        assert_eq!(shown.as_deref(), Ok("http://me:***@127.0.0.1:4723/wd/hub"));
    }
}
