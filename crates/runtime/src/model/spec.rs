//! Which model: `PROVIDER:NAME`, as people write it.

use std::{fmt, path::Path, str::FromStr};

use pointsman_kernel::diagnostic::nearest;

use super::{ModelError, Protocol};

/// Where answers come from.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Provider {
    /// OpenAI, by chat completions.
    OpenAi,
    /// OpenAI, by its Responses.
    OpenAiResponses,
    /// Anthropic.
    Anthropic,
    /// Gemini.
    Gemini,
    /// Ollama, on this machine or another.
    Ollama,
    /// Any server that speaks OpenAI's chat completions.
    OpenAiCompatible,
    /// The built-in answerer, which quotes.
    Quote,
    /// A file of answers.
    Script,
}

impl Provider {
    /// Every provider, in the order of the documentation.
    pub const ALL: [Self; 8] = [
        Self::OpenAi,
        Self::OpenAiResponses,
        Self::Anthropic,
        Self::Gemini,
        Self::Ollama,
        Self::OpenAiCompatible,
        Self::Quote,
        Self::Script,
    ];

    /// Returns the name that people type.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
            Self::OpenAiCompatible => "openai-compatible",
            Self::Quote => "quote",
            Self::Script => "script",
        }
    }

    /// Returns the protocol that it speaks, if it is reached over the wire.
    pub const fn protocol(self) -> Option<Protocol> {
        match self {
            Self::OpenAi | Self::Ollama | Self::OpenAiCompatible => Some(Protocol::OpenAiChat),
            Self::OpenAiResponses => Some(Protocol::OpenAiResponses),
            Self::Anthropic => Some(Protocol::AnthropicMessages),
            Self::Gemini => Some(Protocol::GeminiGenerate),
            Self::Quote | Self::Script => None,
        }
    }

    /// Returns the variables that may hold its key, the first one first.
    pub const fn key_variables(self) -> &'static [&'static str] {
        match self {
            Self::OpenAi | Self::OpenAiResponses | Self::OpenAiCompatible => &["OPENAI_API_KEY"],
            Self::Anthropic => &["ANTHROPIC_API_KEY"],
            Self::Gemini => &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
            Self::Ollama | Self::Quote | Self::Script => &[],
        }
    }

    /// Returns the variable that may hold its address.
    pub const fn base_variable(self) -> Option<&'static str> {
        match self {
            Self::OpenAi | Self::OpenAiResponses | Self::OpenAiCompatible => {
                Some("OPENAI_BASE_URL")
            }
            Self::Anthropic => Some("ANTHROPIC_BASE_URL"),
            Self::Gemini => Some("GEMINI_BASE_URL"),
            Self::Ollama => Some("OLLAMA_HOST"),
            Self::Quote | Self::Script => None,
        }
    }

    /// Returns its own address, where it has one.
    pub const fn own_base(self) -> Option<&'static str> {
        match self {
            Self::OpenAi | Self::OpenAiResponses => Some("https://api.openai.com/v1"),
            Self::Anthropic => Some("https://api.anthropic.com"),
            Self::Gemini => Some("https://generativelanguage.googleapis.com"),
            Self::Ollama => Some("http://127.0.0.1:11434"),
            Self::OpenAiCompatible | Self::Quote | Self::Script => None,
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A model, by its provider and its name there.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Spec {
    provider: Provider,
    name: String,
}

impl Spec {
    /// Returns the built-in answerer.
    pub const fn quote() -> Self {
        Self { provider: Provider::Quote, name: String::new() }
    }

    /// Returns the answers in a file.
    pub fn script(file: &Path) -> Self {
        Self { provider: Provider::Script, name: file.to_string_lossy().into_owned() }
    }

    /// Returns the provider.
    pub const fn provider(&self) -> Provider {
        self.provider
    }

    /// Returns the model's name, or the script's file; nothing for `quote`.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name.is_empty() {
            return write!(f, "{}", self.provider);
        }
        write!(f, "{}:{}", self.provider, self.name)
    }
}

impl FromStr for Spec {
    type Err = ModelError;

    fn from_str(text: &str) -> Result<Self, ModelError> {
        let text = text.trim();
        let (provider, name) = text.split_once(':').unwrap_or((text, ""));
        let found = Provider::ALL.into_iter().find(|known| known.as_str() == provider);
        let Some(found) = found else {
            return Err(ModelError::NoSuchProvider {
                asked: text.to_owned(),
                hint: hint(provider, name),
            });
        };
        // A model's name goes into a URL and into messages: it is one visible word.
        let is_word = name.chars().all(|c| !c.is_whitespace() && !c.is_control());
        match found {
            Provider::Quote if name.is_empty() => Ok(Self::quote()),
            Provider::Quote => Err(ModelError::NameNotTaken { name: name.to_owned() }),
            Provider::Script if !name.is_empty() => Ok(Self::script(Path::new(name))),
            _ if name.is_empty() || !is_word => Err(ModelError::NameMissing { provider: found }),
            _ => Ok(Self { provider: found, name: name.to_owned() }),
        }
    }
}

/// Suggests what was probably meant, or lists the known ones.
fn hint(provider: &str, name: &str) -> String {
    let asked = provider.to_ascii_lowercase();
    let near = nearest(&asked, Provider::ALL.iter().map(|known| known.as_str()));
    let near = near.and_then(|near| Provider::ALL.into_iter().find(|it| it.as_str() == near));
    let family = [
        ("gpt", Provider::OpenAi),
        ("chatgpt", Provider::OpenAi),
        ("claude", Provider::Anthropic),
        ("gemini", Provider::Gemini),
        ("google", Provider::Gemini),
    ];
    let kin = family.into_iter().find(|(start, _)| asked.starts_with(start));
    match (near, kin) {
        (Some(known), _) if name.is_empty() => format!("did you mean `{known}`?"),
        (None, Some((_, known))) if name.is_empty() => {
            format!("did you mean `{known}:{provider}`?")
        }
        (Some(known), _) | (None, Some((_, known))) => format!("did you mean `{known}:{name}`?"),
        (None, None) => {
            let list: Vec<&str> = Provider::ALL.iter().map(|known| known.as_str()).collect();
            format!("known: {}; write PROVIDER:NAME", list.join(", "))
        }
    }
}
