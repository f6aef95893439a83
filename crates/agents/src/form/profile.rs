//! A person's profile: values by what they are, answers by label, and facts.
//!
//! A host reads it from a file; it never enters a journal. What the agent is told of it
//! are the names of what it holds.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    string::{String, ToString},
    vec::Vec,
};

use serde::{Deserialize, Serialize};

use super::kind::{Class, Kind};

/// How a key begins that names an answer by its label.
pub const ANSWERS: &str = "answers.";

/// What a person has to give.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Profile {
    /// Values by what they are.
    pub values: BTreeMap<Kind, String>,
    /// Values by the label of the field that asks for them.
    pub answers: BTreeMap<String, String>,
    /// What a model may know when it writes text.
    pub facts: BTreeMap<String, String>,
    /// The classes that may be filled although they never are without this.
    pub allow: BTreeSet<Class>,
}

/// What an agent is told of a profile: names, and no value.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Holds {
    /// The profile's absolute path.
    pub file: String,
    /// The kinds that it has a value for, derived ones included.
    pub kinds: BTreeSet<Kind>,
    /// The labels that it has an answer for.
    pub answers: Vec<String>,
    /// The classes that it allows.
    pub allow: BTreeSet<Class>,
    /// Whether it has facts for a model.
    pub facts: bool,
}

impl Profile {
    /// Returns the value of a key and what it is: a kind's token, given or derived, or
    /// `answers.` and a label.
    pub fn value(&self, key: &str) -> Option<(Kind, String)> {
        if let Some(label) = key.strip_prefix(ANSWERS) {
            return self.answers.get(label).map(|value| (Kind::None, value.clone()));
        }
        let kind = Kind::from_token(key)?;
        self.values.get(&kind).map(|value| (kind, value.clone()))
    }

    /// Returns the names of what it holds.
    pub fn holds(&self, file: &str) -> Holds {
        let has = |kind: &Kind| self.value(kind.token()).is_some();
        Holds {
            file: file.to_string(),
            kinds: Kind::all().filter(has).collect(),
            answers: self.answers.keys().cloned().collect(),
            allow: self.allow.clone(),
            facts: !self.facts.is_empty(),
        }
    }
}
