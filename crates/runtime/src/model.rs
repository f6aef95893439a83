//! Language models: whom to ask, how a question is written, how the answer is read.
//!
//! - [`Spec`] and [`ModelSettings`]: which model, and with what limits.
//! - [`Model`]: asks it.
//! - [`encode`] and [`decode`] are pure: a question to JSON, bytes to a reply.
//! - [`quote`] answers without a model; a script answers from a file.

#[cfg(feature = "models")]
mod answer;
#[cfg(feature = "models")]
pub mod decode;
#[cfg(feature = "models")]
pub mod encode;
#[cfg(feature = "models")]
mod endpoint;
mod error;
#[cfg(feature = "tools")]
pub mod quote;
#[cfg(feature = "models")]
mod reading;
mod script;
mod secret;
mod settings;
mod spec;
#[cfg(feature = "models")]
mod tape;
#[cfg(feature = "models")]
mod trust;
#[cfg(feature = "models")]
mod wait;
#[cfg(feature = "models")]
mod wire;

use std::{fmt, path::Path, str::FromStr, sync::Arc};

use pointsman_kernel::{agent::FaultClass, prompt::Prompt};
use thiserror::Error;

pub use crate::effect::ProgressSink;
pub use error::ModelError;
pub use secret::ApiKey;
pub use settings::{ModelSettings, Prices, Proposals};
pub use spec::{Provider, Spec};
#[cfg(feature = "models")]
pub use wait::{Headers, hint_ms};

use crate::{
    effect::{Completion, EffectFuture},
    tool::ToolSpec,
};
use script::ModelScript;
#[cfg(feature = "models")]
use wire::Wire;

/// A model request.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    /// The prompt.
    pub prompt: Prompt,
    /// The tools that the prompt names. Others are not offered.
    pub tools: Vec<ToolSpec>,
    /// Identifies this request, so that a provider which supports such a key answers it once;
    /// another attempt is another request. Calls without an id get one from it.
    pub key: String,
}

/// A model that can be asked.
#[derive(Clone, Debug)]
pub struct Model {
    name: Arc<str>,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    #[cfg(feature = "models")]
    Wire(Arc<Wire>),
    Script(Arc<ModelScript>),
    Quote,
}

impl Model {
    /// Sets a model up. Nothing is sent yet; files are opened.
    pub fn new(settings: ModelSettings) -> Result<Self, ModelError> {
        settings.check()?;
        let provider = settings.spec.provider();
        let name = match provider {
            Provider::Quote => "quote (built in, no model)".to_owned(),
            _ if settings.replay.is_some() => format!("{} (replayed)", settings.spec),
            _ => settings.spec.to_string(),
        };
        let kind = match (provider, provider.protocol()) {
            #[cfg(feature = "models")]
            (_, Some(protocol)) => Kind::Wire(Arc::new(Wire::new(settings, protocol)?)),
            #[cfg(not(feature = "models"))]
            (provider, Some(_)) => {
                return Err(ModelError::NoFeature { provider });
            }
            (Provider::Script, None) => {
                Kind::Script(ModelScript::open(Path::new(settings.spec.name()), settings.prices)?)
            }
            (_, None) => Kind::Quote,
        };
        Ok(Self { name: name.into(), kind })
    }

    /// Returns the model's name, for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether it writes text; `quote` only quotes.
    pub const fn writes(&self) -> bool {
        !matches!(self.kind, Kind::Quote)
    }

    /// Asks. The answer is a complete reply or a fault; both have their cost. Dropping the future
    /// closes the connection.
    pub fn ask(&self, question: ModelRequest, shown: ProgressSink) -> EffectFuture {
        match &self.kind {
            #[cfg(feature = "models")]
            Kind::Wire(wire) => {
                let wire = Arc::clone(wire);
                Box::pin(async move { wire.ask(&question, &shown).await })
            }
            Kind::Script(script) => {
                let script = Arc::clone(script);
                Box::pin(async move { script.answer(&question.prompt, &shown).await })
            }
            #[cfg(not(feature = "tools"))]
            Kind::Quote => Box::pin(async move {
                let why =
                    "`quote` needs the library feature `tools`, which this build does not have";
                Completion::fault(FaultClass::Contract, false, why)
            }),
            #[cfg(feature = "tools")]
            Kind::Quote => Box::pin(async move {
                match quote::reply(&question.prompt) {
                    Ok(reply) => {
                        shown.show(&reply.text);
                        Completion::reply(reply)
                    }
                    Err(why) => Completion::fault(FaultClass::Invalid, false, &why),
                }
            }),
        }
    }
}

/// Returns whether a text is the address of a model's server: none that holds a secret is.
#[cfg(feature = "models")]
pub(crate) fn is_address(provider: Provider, text: &str) -> bool {
    endpoint::base(provider, text).is_ok()
}

/// Without the feature `models` no server is asked.
#[cfg(not(feature = "models"))]
pub(crate) const fn is_address(_: Provider, _: &str) -> bool {
    false
}

/// A wire protocol that model providers speak.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Protocol {
    /// Chat completions, by OpenAI and by most that are compatible with it.
    OpenAiChat,
    /// Responses, by OpenAI.
    OpenAiResponses,
    /// Messages, by Anthropic.
    AnthropicMessages,
    /// `generateContent` and `streamGenerateContent`, by Gemini.
    GeminiGenerate,
}

impl Protocol {
    /// Every protocol, in the order of the documentation.
    pub const ALL: [Self; 4] =
        [Self::OpenAiChat, Self::OpenAiResponses, Self::AnthropicMessages, Self::GeminiGenerate];

    /// Returns the name that people type.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::AnthropicMessages => "anthropic-messages",
            Self::GeminiGenerate => "gemini-generate",
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// No protocol has this name.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("no protocol is called `{name}`")]
pub struct NoSuchProtocol {
    /// The given name.
    pub name: String,
}

impl FromStr for Protocol {
    type Err = NoSuchProtocol;

    fn from_str(name: &str) -> Result<Self, NoSuchProtocol> {
        let found = Self::ALL.into_iter().find(|protocol| protocol.as_str() == name);
        found.ok_or_else(|| NoSuchProtocol { name: name.to_owned() })
    }
}
