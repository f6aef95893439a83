//! Which model, and what the environment says about it.

use pointsman_runtime::model::{ApiKey, Model, ModelError, ModelSettings, Prices, Provider, Spec};

use super::{KEY, at};

/// Variables with their values.
type Env<'a> = &'a [(&'a str, &'a str)];

fn from(spec: &str, base_url: Option<&str>, env: Env<'_>) -> Result<ModelSettings, ModelError> {
    let env = |name: &str| {
        env.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    };
    ModelSettings::from_env(spec.parse()?, base_url, &env)
}

#[test]
fn models_are_named_by_provider_and_name() {
    for text in [
        "openai:gpt-5",
        "openai-responses:gpt-5",
        "anthropic:claude",
        "gemini:models/gemini-3-pro",
        "ollama:qwen3:8b",
        "openai-compatible:a/b:free",
        "quote",
        "script:demo one.toml",
    ] {
        let spec: Spec = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(spec.to_string(), text);
    }
    let spec: Spec = "ollama:qwen3:8b".parse().expect("the text names a model");
    assert_eq!((spec.provider(), spec.name()), (Provider::Ollama, "qwen3:8b"));
}

#[test]
fn wrong_name_gets_a_suggestion() {
    let cases = [
        ("opnai:gpt-5", "did you mean `openai:gpt-5`?"),
        ("Anthropic:c", "did you mean `anthropic:c`?"),
        ("qoute", "did you mean `quote`?"),
        ("gpt-5", "did you mean `openai:gpt-5`?"),
        ("claude-x", "did you mean `anthropic:claude-x`?"),
        ("google:gemini-3", "did you mean `gemini:gemini-3`?"),
        (
            "llama-3-70b",
            "known: openai, openai-responses, anthropic, gemini, ollama, openai-compatible, \
             quote, script; write PROVIDER:NAME",
        ),
        ("openai", "write `openai:NAME`"),
        ("openai:", "write `openai:NAME`"),
        ("openai:a b", "write `openai:NAME`"),
        ("script", "write `script:FILE`"),
        ("quote:x", "write `quote` alone"),
    ];
    for (text, hint) in cases {
        let error = text.parse::<Spec>().expect_err(text);
        assert_eq!(error.hint(), hint, "{text}: {error}");
    }
}

#[test]
fn key_is_sent_only_to_its_server() {
    let key = Some(ApiKey::new(KEY));
    let (own, gateway) = ("https://api.openai.com/v1", "https://gate.example/v1");
    let only_key = [("OPENAI_API_KEY", KEY)];
    let both = [("OPENAI_API_KEY", KEY), ("OPENAI_BASE_URL", gateway)];
    let cases: [(&str, Option<&str>, Env<'_>, bool); 10] = [
        ("openai:m", None, &only_key, true),
        ("openai:m", Some(own), &only_key, true),
        ("openai:m", Some("https://api.openai.com/v2/"), &only_key, true),
        // Another host, another scheme, another port.
        ("openai:m", Some("https://evil.example/v1"), &only_key, false),
        ("openai:m", Some("http://api.openai.com/v1"), &only_key, false),
        ("openai:m", Some("https://api.openai.com:444/v1"), &only_key, false),
        // The environment names the server beside the key.
        ("openai:m", None, &both, true),
        ("openai-compatible:m", Some("https://gate.example/other"), &both, true),
        ("openai:m", Some(own), &both, false),
        ("openai-compatible:m", Some("http://127.0.0.1:1/v1"), &only_key, false),
    ];
    for (spec, base, env, sent) in cases {
        let settings = from(spec, base, env).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(settings.key, key.clone().filter(|_| sent), "{spec} {base:?} {env:?}");
    }
}

#[test]
fn every_provider_has_its_variables() {
    let cases: [(&str, Env<'_>, &str, bool); 9] = [
        ("anthropic:m", &[("ANTHROPIC_API_KEY", KEY)], "https://api.anthropic.com", true),
        ("gemini:m", &[("GOOGLE_API_KEY", KEY)], "https://generativelanguage.googleapis.com", true),
        ("gemini:m", &[("GEMINI_API_KEY", KEY), ("GEMINI_BASE_URL", "http://g")], "http://g", true),
        ("anthropic:m", &[("ANTHROPIC_BASE_URL", "http://a/")], "http://a/", false),
        ("ollama:m", &[], "http://127.0.0.1:11434", false),
        ("ollama:m", &[("OLLAMA_HOST", "box")], "box", false),
        ("ollama:m", &[("OLLAMA_HOST", "https://box:1")], "https://box:1", false),
        ("openai-compatible:m", &[("OPENAI_BASE_URL", "http://c/v1")], "http://c/v1", false),
        ("openai:m", &[("OPENAI_API_KEY", " ")], "https://api.openai.com/v1", false),
    ];
    for (spec, env, base, has_key) in cases {
        let settings = from(spec, None, env).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(settings.base_url.as_deref(), Some(base), "{spec}");
        assert_eq!(settings.key.is_some(), has_key, "{spec}");
    }
    assert!(from("quote", None, &[]).is_ok());
}

#[tokio::test]
async fn ollamas_host_may_lack_its_scheme_and_its_port() {
    use super::server::{Served, serve};
    let server = serve(vec![Served::whole(500, "")]).await;
    let port = server.url.rsplit(':').next().expect("it has a port").to_owned();
    for host in [
        server.url.clone(),
        format!("127.0.0.1:{port}"),
        format!("localhost:{port}/"),
        format!("0.0.0.0:{port}"),
        format!(":{port}"),
        format!("127.0.0.1:{port}/v1"),
    ] {
        let settings = from("ollama:m", None, &[("OLLAMA_HOST", &host)]).expect("it is a host");
        drop(super::ask(settings).await);
        let seen = server.seen.lock().expect("no thread panicked while it held the lock").pop();
        let (head, _) = seen.unwrap_or_else(|| panic!("{host} was not asked"));
        assert!(head.starts_with("post /v1/chat/completions "), "{host}: {head}");
    }
}

#[test]
fn invalid_request_is_rejected_before_sending() {
    let refused = |settings: ModelSettings| {
        let error = Model::new(settings).expect_err("it cannot work");
        format!("{error}; {}", error.hint())
    };
    let error = refused(ModelSettings::new("openai:m".parse().expect("the text names a model")));
    assert_eq!(error, "`openai` needs a key; set OPENAI_API_KEY");
    let error = from("openai-compatible:m", None, &[]).expect_err("it has no base URL");
    assert_eq!(error.hint(), "give a base URL, or set OPENAI_BASE_URL");
    for base in
        ["", "nonsense", "ftp://x", "http://", "http://u:secret@h/v1", "http://h?key=secret"]
    {
        let error = refused(at("openai:m", base));
        assert!(error.contains("cannot be used") && !error.contains("secret"), "{base}: {error}");
    }
    let mut settings = at("openai:m", "http://127.0.0.1:1");
    settings.key = Some(ApiKey::new("a\nb"));
    assert!(refused(settings).contains("OPENAI_API_KEY"));
    let mut settings = at("openai:m", "http://127.0.0.1:1");
    settings.temperature = Some(f64::NAN);
    assert!(refused(settings).contains("a number from 0 to 2"));
    let mut settings = at("openai:m", "http://127.0.0.1:1");
    settings.record = Some("a".into());
    settings.replay = Some("b".into());
    assert!(refused(settings).contains("cannot be used together"));
    let mut settings = ModelSettings::new(Spec::quote());
    settings.record = Some("a".into());
    assert!(refused(settings).contains("`quote` cannot be recorded or replayed"));
}

#[test]
fn prices_are_rounded_up_and_never_overflow() {
    let prices = Prices { input: 3_000_000, output: 15_000_000 };
    assert_eq!(prices.of(1_000_000, 0), 3_000_000);
    assert_eq!(prices.of(1, 1), 18);
    assert_eq!(Prices { input: 1, output: 0 }.of(1, 0), 1);
    assert_eq!(Prices { input: u64::MAX, output: u64::MAX }.of(u64::MAX, u64::MAX), u64::MAX);
}
