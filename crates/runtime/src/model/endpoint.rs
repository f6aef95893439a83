//! The address of a provider, and the headers of its requests.

use reqwest::{
    Url,
    header::{HeaderMap, HeaderName, HeaderValue},
};

use super::{ModelError, settings::ModelSettings, spec::Provider};

/// The version of the Messages protocol that the encoder writes.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// Reads the address of a server. `OLLAMA_HOST` may lack its scheme and its port.
pub(super) fn base(provider: Provider, text: &str) -> Result<Url, ModelError> {
    let text = text.trim().trim_end_matches('/');
    let bad = |why| Err(ModelError::BadBase { url: shown(text), why });
    let whole = if provider == Provider::Ollama && !text.contains("://") {
        bare(text)
    } else {
        text.to_owned()
    };
    let Ok(mut url) = Url::parse(&whole) else {
        return bad("it is not a URL");
    };
    if !matches!(url.scheme(), "http" | "https") {
        return bad("it is neither http nor https");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return bad("it contains a user name or password");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return bad("it has a query or a fragment");
    }
    // Servers listen on this address; clients cannot connect to it.
    if url.host_str() == Some("0.0.0.0") && url.set_host(Some("127.0.0.1")).is_err() {
        return bad("its host is not allowed");
    }
    Ok(url)
}

/// Completes a host that has no scheme, as Ollama's own client does.
fn bare(text: &str) -> String {
    let (host, path) = text.split_once('/').unwrap_or((text, ""));
    let host = if host.starts_with(':') { format!("127.0.0.1{host}") } else { host.to_owned() };
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| {
        !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
    });
    let port = if has_port { "" } else { ":11434" };
    format!("http://{host}{port}/{path}")
}

/// Returns an address without what may be secret in it.
fn shown(text: &str) -> String {
    let text = text.split(['?', '#']).next().unwrap_or_default();
    match (text.split_once("://"), text.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, place))) => format!("{scheme}://{place}"),
        (None, Some((_, place))) => place.to_owned(),
        (_, None) => text.to_owned(),
    }
}

/// Returns where questions to a model are sent.
pub(super) fn address(settings: &ModelSettings) -> Result<Url, ModelError> {
    let provider = settings.spec.provider();
    let text = settings.base_url.as_deref().or_else(|| provider.own_base());
    let mut url = base(provider, text.ok_or(ModelError::NoBase { provider })?)?;
    let ends_with = |url: &Url, part: &str| url.path().trim_end_matches('/').ends_with(part);
    let name = settings.spec.name();
    let gemini = format!("{}:streamGenerateContent", name.trim_start_matches("models/"));
    // Some addresses carry the version already, some do not; neither is wrong.
    let (version, path): (&str, Vec<&str>) = match provider {
        Provider::OpenAiResponses => ("", vec!["responses"]),
        Provider::Anthropic => ("v1", vec!["messages"]),
        Provider::Gemini if name.contains('/') && !name.starts_with("models/") => {
            ("v1beta", gemini.split('/').collect())
        }
        Provider::Gemini => ("v1beta", vec!["models", gemini.as_str()]),
        Provider::Ollama => ("v1", vec!["chat", "completions"]),
        _ => ("", vec!["chat", "completions"]),
    };
    // A complete address is used as it is.
    if ends_with(&url, &format!("/{}", path.join("/"))) {
        return Ok(url);
    }
    let versioned = version.is_empty() || ends_with(&url, &format!("/{version}"));
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty();
        if !versioned {
            segments.push(version);
        }
        segments.extend(path);
    }
    if provider == Provider::Gemini {
        url.set_query(Some("alt=sse"));
    }
    Ok(url)
}

/// Returns whether a server is on this machine, where no proxy reaches it.
pub(super) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Returns whether questions can be sent there without a key: only a provider's own
/// server is known to want one.
pub(super) fn needs_key(settings: &ModelSettings, url: &Url) -> bool {
    let provider = settings.spec.provider();
    let own = provider.own_base().and_then(|own| Url::parse(own).ok());
    !provider.key_variables().is_empty() && own.is_some_and(|own| own.origin() == url.origin())
}

/// Returns the headers that every question carries, the key among them.
pub(super) fn headers(settings: &ModelSettings) -> Result<HeaderMap, ModelError> {
    let provider = settings.spec.provider();
    let mut headers = HeaderMap::new();
    let mut set = |name: &'static str, value: &'static str| {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    };
    set("content-type", "application/json");
    set("accept", "text/event-stream, application/json");
    if provider == Provider::Anthropic {
        set("anthropic-version", ANTHROPIC_VERSION);
    }
    if let Some(key) = settings.key.as_ref().filter(|key| !key.reveal().is_empty()) {
        let (name, value) = match provider {
            Provider::Anthropic => ("x-api-key", key.reveal().to_owned()),
            Provider::Gemini => ("x-goog-api-key", key.reveal().to_owned()),
            _ => ("authorization", format!("Bearer {}", key.reveal())),
        };
        let mut value =
            HeaderValue::from_str(&value).map_err(|_| ModelError::BadKey { provider })?;
        value.set_sensitive(true);
        headers.insert(HeaderName::from_static(name), value);
    }
    Ok(headers)
}

/// Returns whether a provider supports an idempotency key.
pub(super) const fn takes_idempotency_key(provider: Provider) -> bool {
    matches!(provider, Provider::OpenAi | Provider::OpenAiResponses | Provider::OpenAiCompatible)
}
