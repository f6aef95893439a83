//! What a model is asked with: address, key, limits, and where answers are kept.

use pointsman_kernel::id::Digest;
use std::{path::PathBuf, time::Duration};

use super::{ApiKey, ModelError, spec::Spec};
#[cfg(feature = "models")]
use super::{endpoint, spec::Provider};

/// How a model proposes, where the prompt allows both.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Proposals {
    /// As JSON text that fits the prompt's schema. Every model can do that.
    #[default]
    Schema,
    /// By the provider's own tool calls.
    Tools,
}

/// What tokens cost, in millionths of a currency unit per million tokens: 3 dollars
/// per million are 3 000 000.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Prices {
    /// Tokens read; cached ones are charged alike.
    pub input: u64,
    /// Tokens written; reasoning is charged alike.
    pub output: u64,
}

impl Prices {
    /// Returns the cost of this many tokens, in millionths, rounded up.
    pub fn of(&self, input: u64, output: u64) -> u64 {
        let cost = |tokens: u64, price: u64| u128::from(tokens).saturating_mul(u128::from(price));
        let sum = cost(input, self.input).saturating_add(cost(output, self.output));
        u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

/// Everything about a model that is the same for all questions.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelSettings {
    /// The model.
    pub spec: Spec,
    /// The server's address; the provider's own where there is none.
    pub base_url: Option<String>,
    /// The key. It is sent to `base_url`, so set both together.
    pub key: Option<ApiKey>,
    /// How the model proposes.
    pub proposals: Proposals,
    /// Tokens that a reply may have.
    pub max_tokens: u32,
    /// How freely words are drawn, where it is not left to the provider.
    pub temperature: Option<f64>,
    /// Where draws begin. Chat completions and Gemini take it, the others do not.
    pub seed: Option<u64>,
    /// What tokens cost; without prices no money is charged.
    pub prices: Option<Prices>,
    /// How long reaching the server may take.
    pub connect_timeout: Duration,
    /// How long the server may be silent: before its answer, and between two chunks.
    pub idle_timeout: Duration,
    /// Bytes that an answer may have.
    pub max_bytes: usize,
    /// The file that answers are appended to.
    pub record: Option<PathBuf>,
    /// The file that answers are taken from, instead of the network.
    pub replay: Option<PathBuf>,
}

impl ModelSettings {
    /// Returns a name of the provider and the account, the same on every machine; nothing without a
    /// provider. Address and key are in it as a digest.
    pub(crate) fn provider_name(&self) -> Option<Box<str>> {
        let provider = self.spec.provider();
        provider.protocol()?;
        let base = self.base_url.as_deref().or_else(|| provider.own_base()).unwrap_or_default();
        let mut account = base.as_bytes().to_vec();
        account.push(0);
        account.extend(self.key.iter().flat_map(ApiKey::digest));
        let digest = Digest::of(&account).to_string();
        let short: String = digest.chars().take(16).collect();
        Some(format!("{}:{short}", provider.as_str()).into())
    }

    /// Returns the defaults for a model.
    pub const fn new(spec: Spec) -> Self {
        Self {
            spec,
            base_url: None,
            key: None,
            proposals: Proposals::Schema,
            max_tokens: 8_192,
            temperature: None,
            seed: None,
            prices: None,
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_mins(2),
            max_bytes: 32 << 20,
            record: None,
            replay: None,
        }
    }

    /// Returns the settings that the environment asks for. `base_url`, where given,
    /// comes before the environment's.
    ///
    /// A key is sent only to its own server: the one that the environment names next to the key,
    /// or else the provider's own. A `base_url` from elsewhere, such as a file in a repository,
    /// gets no key.
    #[cfg(feature = "models")]
    pub fn from_env(
        spec: Spec,
        base_url: Option<&str>,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ModelError> {
        let provider = spec.provider();
        let read = |name: &str| env(name).filter(|value| !value.trim().is_empty());
        let named = provider.base_variable().and_then(read);
        let trusted = named.or_else(|| provider.own_base().map(str::to_owned));
        let used = base_url.map(str::to_owned).or_else(|| trusted.clone());
        let key = provider.key_variables().iter().find_map(|name| read(name));
        let mut settings = Self { base_url: used.clone(), ..Self::new(spec) };
        let Some(used) = used else {
            return match provider {
                Provider::Quote | Provider::Script => Ok(settings),
                _ => Err(ModelError::NoBase { provider }),
            };
        };
        let place = endpoint::base(provider, &used)?.origin();
        let meant = trusted.map(|trusted| endpoint::base(provider, &trusted)).transpose()?;
        if meant.is_some_and(|meant| meant.origin() == place) {
            settings.key = key.as_deref().map(ApiKey::new);
        }
        Ok(settings)
    }

    /// Checks what no type can say.
    pub(super) fn check(&self) -> Result<(), ModelError> {
        let bad = |setting, range| Err(ModelError::BadSetting { setting, range });
        if self.max_tokens == 0 {
            return bad("max_tokens", "1 or more");
        }
        if self.temperature.is_some_and(|heat| !(0.0..=2.0).contains(&heat)) {
            return bad("temperature", "a number from 0 to 2");
        }
        if self.max_bytes == 0 {
            return bad("max_bytes", "1 or more");
        }
        if self.connect_timeout.is_zero() {
            return bad("connect_timeout", "more than zero");
        }
        if self.idle_timeout.is_zero() {
            return bad("idle_timeout", "more than zero");
        }
        if self.record.is_some() && self.replay.is_some() {
            return Err(ModelError::RecordAndReplay);
        }
        let taped = self.record.is_some() || self.replay.is_some();
        if taped && self.spec.provider().protocol().is_none() {
            return Err(ModelError::NothingToRecord { spec: self.spec.to_string() });
        }
        Ok(())
    }
}
