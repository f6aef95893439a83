//! Why a model cannot be set up, and what a person can do about it.
//!
//! What goes wrong while a model is asked is a fault, and belongs to the answer.

use std::{io, path::PathBuf};

use thiserror::Error;

use super::spec::Provider;

/// Why a model cannot be set up.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// No provider has this name.
    #[error("no model provider is called `{asked}`")]
    NoSuchProvider {
        /// The requested name.
        asked: String,
        /// A suggestion, or the known ones.
        hint: String,
    },
    /// This build cannot ask it.
    #[error("`{provider}` needs the library feature `models`, which this build does not have")]
    NoFeature {
        /// The provider.
        provider: Provider,
    },
    /// The model's name is missing or is not one word.
    #[error("`{provider}` needs the name of a model")]
    NameMissing {
        /// The provider.
        provider: Provider,
    },
    /// `quote` was given a name.
    #[error("`quote` takes no model name, but got `{name}`")]
    NameNotTaken {
        /// The name.
        name: String,
    },
    /// The base URL is not a server's address.
    #[error("the base URL `{url}` cannot be used: {why}")]
    BadBase {
        /// The address, without anything secret in it.
        url: String,
        /// The reason.
        why: &'static str,
    },
    /// The base URL is missing.
    #[error("`{provider}` needs a base URL")]
    NoBase {
        /// The provider.
        provider: Provider,
    },
    /// The key is missing.
    #[error("`{provider}` needs a key")]
    NoKey {
        /// The provider.
        provider: Provider,
    },
    /// The key cannot be sent.
    #[error("the key of `{provider}` has characters that no HTTP header can carry")]
    BadKey {
        /// The provider.
        provider: Provider,
    },
    /// A setting is out of its range.
    #[error("`{setting}` is out of range")]
    BadSetting {
        /// The setting.
        setting: &'static str,
        /// What it may be.
        range: &'static str,
    },
    /// No provider answers.
    #[error("`{spec}` cannot be recorded or replayed")]
    NothingToRecord {
        /// The model that was asked for.
        spec: String,
    },
    /// Answers cannot be recorded and replayed at once.
    #[error("`--record` and `--replay` cannot be used together")]
    RecordAndReplay,
    /// The HTTP client cannot be made.
    #[error("cannot set up network connections: {0}")]
    Client(String),
    /// A file cannot be read or written.
    #[error("{} cannot be used", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A line of a file makes no sense.
    #[error("{}, line {line}: {why}", .path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line; the first is 1.
        line: usize,
        /// The reason.
        why: String,
    },
}

impl ModelError {
    /// Returns what a person can do about it, in one sentence.
    pub fn hint(&self) -> String {
        match self {
            Self::NoSuchProvider { hint, .. } => hint.clone(),
            Self::NoFeature { .. } => "add `models` to the features of `pointsman-runtime`".into(),
            Self::NameMissing { provider: Provider::Script } => "write `script:FILE`".into(),
            Self::NameMissing { provider } => format!("write `{provider}:NAME`"),
            Self::NameNotTaken { .. } => "write `quote` alone".into(),
            Self::NothingToRecord { .. } => {
                "name the recorded model: `--model PROVIDER:NAME`".into()
            }
            Self::BadBase { .. } => {
                "write `http://HOST:PORT/v1` or `https://HOST/v1`, without a key or a query".into()
            }
            Self::NoBase { provider } => match provider.base_variable() {
                Some(variable) => format!("give a base URL, or set {variable}"),
                None => "give a base URL".into(),
            },
            Self::NoKey { provider } => match provider.key_variables().first() {
                Some(variable) => format!("set {variable}"),
                None => "give a key".into(),
            },
            Self::BadKey { provider } => match provider.key_variables().first() {
                Some(variable) => {
                    format!("check {variable}: a key is one line of ASCII characters")
                }
                None => "a key is one line of ASCII characters".into(),
            },
            Self::BadSetting { setting, range } => format!("set `{setting}` to {range}"),
            Self::RecordAndReplay => "choose one of the two".into(),
            Self::Client(_) => {
                "install the system's CA certificates, or point SSL_CERT_FILE at them".into()
            }
            Self::File { path, .. } => format!("check that {} exists", path.display()),
            Self::Line { .. } => {
                "a script is a list of `[[turn]]` tables, or JSON lines, with `text`, \
                                  `calls` or `fault`"
                    .into()
            }
        }
    }
}
