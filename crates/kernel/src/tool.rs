//! What a tool declares of itself, so that the kernel can tell repetition from work.

use alloc::{boxed::Box, vec::Vec};

use serde::{Deserialize, Serialize};

/// How the last line of a change begins in which a tool says what its target held and
/// holds: `[content BEFORE -> AFTER]`, with a digest of each, or `none`.
pub const CONTENT: &str = "[content ";

/// A tool's declaration. What is not declared is taken to be the most dangerous.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ToolDecl {
    /// Its name, as models call it.
    pub name: Box<str>,
    /// What it does to the world.
    #[serde(default)]
    pub effect: ToolEffect,
    /// The arguments that name what it acts on, such as `path`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Box<str>>,
    /// The arguments that are paths, so that a rule fits them in every spelling.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<Box<str>>,
    /// What stands for arguments that are left out, as (name, JSON), where a rule could
    /// speak of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub defaults: Vec<(Box<str>, Box<str>)>,
    /// The argument that holds a query, for tools that search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<Box<str>>,
    /// Whether doing it twice is doing it once.
    #[serde(default)]
    pub idempotent: bool,
    /// Whether it may run beside others.
    #[serde(default)]
    pub parallel_safe: bool,
    /// Milliseconds that it may take, where it wants less than its state allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// What to do when nobody knows whether it was done.
    #[serde(default)]
    pub recovery: Recovery,
    /// Whether another program carries it out, of which nobody knows what it does with its
    /// arguments: rules take every text for a path and for a command.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub foreign: bool,
}

/// What a tool does to the world; it says how its calls are compared.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolEffect {
    /// It looks: the same call with another result is something new.
    Read,
    /// It changes: the same call again is a repetition, whatever it says.
    #[default]
    Write,
    /// It does as it is told, as a shell does: compared like a read, and it may
    /// change things.
    Command,
    /// It waits for something: only time limits it.
    Poll,
    /// Its answer says nothing about what it did; it is not compared.
    Opaque,
}

/// What to do with a call that was started and not answered before a crash.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Recovery {
    /// Do it again.
    Retry,
    /// Ask the provider whether it was done.
    Probe,
    /// Ask a person.
    #[default]
    Ask,
    /// Take it as failed.
    Fail,
}

impl ToolDecl {
    /// A tool of which nothing but the name is known.
    pub fn unknown(name: &str) -> Self {
        Self {
            name: name.into(),
            effect: ToolEffect::default(),
            targets: Vec::new(),
            paths: Vec::new(),
            defaults: Vec::new(),
            query: None,
            idempotent: false,
            parallel_safe: false,
            timeout_ms: None,
            recovery: Recovery::default(),
            foreign: false,
        }
    }

    /// A tool that looks at what these arguments name.
    pub fn read(name: &str, targets: &[&str]) -> Self {
        Self {
            effect: ToolEffect::Read,
            targets: targets.iter().map(|target| (*target).into()).collect(),
            idempotent: true,
            parallel_safe: true,
            recovery: Recovery::Retry,
            ..Self::unknown(name)
        }
    }

    /// A tool that changes what these arguments name.
    pub fn write(name: &str, targets: &[&str]) -> Self {
        Self {
            targets: targets.iter().map(|target| (*target).into()).collect(),
            ..Self::unknown(name)
        }
    }

    /// Names the arguments that are paths.
    #[must_use]
    pub fn with_paths(self, paths: &[&str]) -> Self {
        Self { paths: paths.iter().map(|path| (*path).into()).collect(), ..self }
    }

    /// Says what stands for an argument that is left out, as JSON.
    #[must_use]
    pub fn with_default(mut self, name: &str, json: &str) -> Self {
        self.defaults.push((name.into(), json.into()));
        self
    }

    /// Returns what stands for an argument that is left out, as JSON.
    pub(crate) fn usual(&self, name: &str) -> Option<&str> {
        self.defaults.iter().find(|(known, _)| **known == *name).map(|(_, json)| &**json)
    }
}

/// How an agent is told, when a run begins, of the tools that it may call.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum ToolOffer {
    /// Not at all: its chart names them.
    #[default]
    None,
    /// By name, those included that a person would be asked for.
    Names,
    /// With what each does and takes, so many at most, and none that no rule speaks of and a
    /// person would be asked for.
    Described {
        /// How many fit.
        most: usize,
    },
}
