//! `[permissions]`: calls that run without asking, and the order of the rules: those of the
//! command line, the user and the repository, then the defaults.

use pointsman_kernel::{
    governor::{Grant, Level, Permissions},
    id::At,
};

use super::{
    ConfigOrigin,
    keys::{self, Keys, Value},
    table::{Table, Wins, most},
};
use crate::{clock::now_ms, tool::Toolbox};

/// `[permissions]`: calls that run without asking.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PermissionsConfig {
    /// For calls that no rule matches.
    pub otherwise: Option<Level>,
    /// The user's rules; the first that fits a call decides.
    pub rules: Vec<Dated>,
    /// A repository's rules, kept apart because they may only be stricter.
    pub repository: Vec<Dated>,
}

/// A rule of a file, and how long it holds.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Dated {
    /// The rule.
    pub grant: Grant,
    /// When it ends, in milliseconds since 1970.
    pub until_ms: Option<u64>,
}

impl Dated {
    /// Returns the rule for a run that begins now; nothing if its time is over.
    fn beginning(&self, now_ms: u64) -> Option<Grant> {
        let left = match self.until_ms {
            Some(until) => Some(At(until.checked_sub(now_ms).filter(|left| *left > 0)?)),
            None => None,
        };
        Some(Grant { until: left, ..self.grant.clone() })
    }
}

/// Returns a rule over every call of a tool.
pub fn rule(tool: &str, level: Level) -> Grant {
    Grant { tool: tool.into(), arguments: Vec::new(), level, until: None }
}

/// Returns whether a shipped tool is read-only: it may run without asking.
fn only_looks(tool: &str) -> bool {
    Toolbox::default().kind(tool).only_looks()
}

/// A repository may let nothing through that its reader is asked for.
fn stricter_otherwise() -> Wins<Level> {
    most(Level::Ask).told()
}

const LEVELS: [(&str, Level); 3] =
    [("allow", Level::Allow), ("ask", Level::Ask), ("deny", Level::Refuse)];

impl Table for PermissionsConfig {
    fn read(keys: &mut Keys<'_>) -> Self {
        let otherwise = keys.read("otherwise", |value| {
            keys::word(value, &LEVELS, "write `\"allow\"`, `\"ask\"` or `\"deny\"`")
        });
        let otherwise = keys.judged("otherwise", otherwise, &stricter_otherwise());
        let rules = keys.each("rules", rules).unwrap_or_default();
        match keys.origin() {
            ConfigOrigin::User => Self { otherwise, rules, repository: Vec::new() },
            ConfigOrigin::Repository => Self { otherwise, rules: Vec::new(), repository: rules },
        }
    }

    fn under(self, repository: Self) -> Self {
        let otherwise = stricter_otherwise().settle(self.otherwise, repository.otherwise);
        Self { otherwise, repository: repository.repository, ..self }
    }
}

fn rules(keys: &Keys<'_>, value: Value<'_>) -> Option<Vec<Dated>> {
    let hint = "write `rules = [{ allow = \"read\" }, { ask = \"shell\" }]`";
    let mut rules = Vec::new();
    for item in keys.list("rules", value, hint)? {
        let Some(rule) = dated(keys, item) else { continue };
        // A repository lets through only what looks.
        let harmless = rule.grant.level > Level::Allow || only_looks(&rule.grant.tool);
        if keys.origin() == ConfigOrigin::Repository && !harmless {
            keys.forbid(format!("`{}` cannot be allowed here", rule.grant.tool), keys::span(item));
        }
        rules.push(rule);
    }
    Some(rules)
}

/// Reads a rule such as `{ allow = TOOL, with = { command = "cargo *" } }`.
fn dated(keys: &Keys<'_>, value: Value<'_>) -> Option<Dated> {
    let hint = "write `{ allow = \"TOOL\" }`, `{ ask = … }` or `{ deny = … }`";
    let mut rule = keys.inline(value, "a rule", hint)?;
    let mut named = Vec::new();
    for (key, level) in LEVELS {
        named.extend(rule.read(key, keys::text).map(|tool| (tool, level)));
    }
    let arguments = rule.each("with", arguments).unwrap_or_default();
    let until_ms = rule.read("until", keys::moment);
    rule.finish();
    let mut named = named.into_iter();
    if let (Some((tool, level)), None) = (named.next(), named.next()) {
        return Some(Dated { grant: Grant { tool, arguments, level, until: None }, until_ms });
    }
    keys.tell("a rule has one of `allow`, `ask` and `deny`", hint, keys::span(value));
    None
}

fn arguments(keys: &Keys<'_>, value: Value<'_>) -> Option<Vec<(String, String)>> {
    let patterns = value.get_ref().as_table().and_then(|table| {
        let text = |value: Value<'_>| value.get_ref().as_str().map(str::to_owned);
        let all = table.iter().map(|(name, it)| Some((name.get_ref().to_string(), text(it)?)));
        all.collect::<Option<Vec<_>>>()
    });
    if patterns.is_none() {
        let hint = "write `with = { command = \"cargo *\" }`; `*` matches anything";
        keys.tell("`with` needs a pattern for each argument", hint, keys::span(value));
    }
    patterns
}

impl PermissionsConfig {
    /// Returns the permissions of a new run. The first matching rule decides: those of the command
    /// line, then the repository's denials, then the user's, then the rest of the repository's,
    /// and last the read-only tools.
    pub fn permissions(&self, flags: Vec<Grant>, attended: bool) -> Permissions {
        self.permissions_with(flags, &[], attended)
    }

    /// The same, with rules from elsewhere, such as a setting. If they and the rules of the files
    /// match the same call, the stricter one decides.
    pub fn permissions_with(
        &self,
        flags: Vec<Grant>,
        usual: &[Grant],
        attended: bool,
    ) -> Permissions {
        let (otherwise, now) = (self.otherwise.unwrap_or(Level::Ask), now_ms());
        let valid = |rules: &[Dated]| -> Vec<Grant> {
            rules.iter().filter_map(|rule| rule.beginning(now)).collect()
        };
        let (own, repository) = (valid(&self.rules), valid(&self.repository));
        let forbids = |rule: &&Grant| rule.level >= Level::Refuse;
        // A repository cannot have a call asked for that its reader never lets run.
        let not_milder = |mut rule: Grant| {
            if !only_looks(&rule.tool) {
                rule.level = rule.level.max(otherwise);
            }
            rule
        };
        let rest = repository.iter().filter(|rule| !forbids(rule)).cloned().map(not_milder);
        let files: Vec<Grant> = own.into_iter().chain(rest).collect();
        let stricter = stricter(&files, usual);
        // What says no more than a stricter rule before it need not be said twice.
        let spoken_for = |rule: &Grant| usual.iter().any(|it| it.tool == rule.tool);
        let shipped = Toolbox::default();
        let looks = shipped.iter().filter(|tool| tool.kind().only_looks());
        let rules = flags
            .into_iter()
            .chain(repository.iter().filter(forbids).cloned())
            .chain(stricter)
            .chain(files.into_iter().filter(|rule| !spoken_for(rule)))
            .chain(looks.map(|tool| rule(tool.name(), Level::Allow)));
        Permissions { otherwise, rules: rules.collect(), attended }
    }
}

/// Returns the default rules, preceded by the others for the same tools. If both match a call, the
/// stricter one decides.
fn stricter(files: &[Grant], usual: &[Grant]) -> Vec<Grant> {
    let mut rules = Vec::new();
    for known in files {
        // A rule over many tools says of each of these what it says of all.
        let any = Grant { arguments: Vec::new(), until: None, ..known.clone() };
        for usual in usual.iter().filter(|usual| any.covers(usual)) {
            // A denial applies, whatever arguments the default rule distinguishes.
            let told_apart = usual.arguments.iter().filter(|_| known.level < Level::Refuse);
            let arguments = known.arguments.iter().chain(told_apart).cloned().collect();
            let (tool, level) = (usual.tool.clone(), known.level.max(usual.level));
            rules.push(Grant { tool, arguments, level, until: known.until });
        }
    }
    rules.dedup();
    rules.extend(usual.iter().cloned());
    rules
}
