//! Declarations of tools, so that the kernel can tell repetition from work.

use alloc::{boxed::Box, vec::Vec};

use serde::{Deserialize, Serialize};

/// The start of the last line of a change, with digests of the target before and after: `[content
/// BEFORE -> AFTER]`, or `none`.
pub const CONTENT: &str = "[content ";

/// A tool's declaration. The kernel assumes the worst of everything undeclared.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ToolDecl {
    /// Its name, as models call it.
    pub name: Box<str>,
    /// Its effect on the world.
    #[serde(default)]
    pub effect: ToolEffect,
    /// The arguments that name its targets, such as `path`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Box<str>>,
    /// The arguments that are paths, so that a rule fits them in every spelling.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<Box<str>>,
    /// The defaults of missing arguments that rules can match, as (name, JSON).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub defaults: Vec<(Box<str>, Box<str>)>,
    /// The argument that holds a query, for tools that search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<Box<str>>,
    /// Whether doing it twice is doing it once.
    #[serde(default)]
    pub idempotent: bool,
    /// Whether it may run in parallel.
    #[serde(default)]
    pub parallel_safe: bool,
    /// Milliseconds that it may take, where it wants less than its state allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// What to do if it is unknown whether a call was done.
    #[serde(default)]
    pub recovery: Recovery,
    /// Whether another program carries it out, and may interpret its arguments in any way: rules
    /// match every text as a path and as a command.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub foreign: bool,
}

/// A tool's effect on the world; it decides how calls are compared.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolEffect {
    /// It looks: the same call with another result is something new.
    Read,
    /// It changes its target: the same call again is a repetition, whatever its result.
    #[default]
    Write,
    /// It executes commands, as a shell does: compared like a read, and it may change things.
    Command,
    /// It waits for something: only time limits it.
    Poll,
    /// Its result says nothing about its effect; it is not compared.
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
    /// A tool with only its name.
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

    /// A tool that reads the targets of these arguments.
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

    /// A tool that changes the targets of these arguments.
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

    /// Sets the default of an argument, as JSON.
    #[must_use]
    pub fn with_default(mut self, name: &str, json: &str) -> Self {
        self.defaults.push((name.into(), json.into()));
        self
    }

    /// Returns the default of an argument, as JSON.
    pub(crate) fn usual(&self, name: &str) -> Option<&str> {
        self.defaults.iter().find(|(known, _)| **known == *name).map(|(_, json)| &**json)
    }
}

/// How an agent learns, when a run begins, of the tools that it may call.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum ToolOffer {
    /// Not at all: its chart names them.
    #[default]
    None,
    /// By name, those included that a person would be asked for.
    Names,
    /// With their descriptions and arguments, at most this many, and without tools that have no
    /// rule and would prompt.
    Described {
        /// How many fit.
        most: usize,
    },
}
