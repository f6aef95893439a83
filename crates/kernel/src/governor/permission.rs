//! Permissions: per tool and per argument, fixed at the start of a run and extended by a person's
//! answers.

use alloc::{format, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{
    Level, Rule, Verdict, arguments,
    pattern::{breaks, matches, matches_path, meets, meets_path, strays, ties},
    value,
};
use crate::{
    agent::ToolCall,
    id::At,
    tool::{ToolDecl, ToolEffect},
};

/// Which calls may run, and which need approval.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Permissions {
    /// For calls that no rule matches. In an unattended run `ask` means `refuse`.
    pub otherwise: Level,
    /// The first rule that fits a call decides: put the special ones first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Grant>,
    /// Whether a person is there to be asked.
    pub attended: bool,
}

/// A rule over calls.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Grant {
    /// The tool; `*` matches anything.
    pub tool: String,
    /// Arguments that must fit, as (name, pattern); `*` matches anything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<(String, String)>,
    /// The ruling: `allow`, `ask` or `refuse`.
    pub level: Level,
    /// Until when it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<At>,
}

impl Default for Permissions {
    /// Unattended and without rules: nothing may run.
    fn default() -> Self {
        Self { otherwise: Level::Refuse, rules: Vec::new(), attended: false }
    }
}

impl Permissions {
    /// Everything may run.
    pub const fn allow_all() -> Self {
        Self { otherwise: Level::Allow, rules: Vec::new(), attended: true }
    }

    /// Everything is asked for.
    pub const fn ask_all() -> Self {
        Self { otherwise: Level::Ask, rules: Vec::new(), attended: true }
    }

    /// Rules over a call, or nothing if it may run.
    pub(super) fn judge(
        &self,
        call: &ToolCall,
        tool: Option<&ToolDecl>,
        now: At,
    ) -> Option<Verdict> {
        let rule = self.deciding(call, tool, now);
        let verdict = |level, rule, reason, advice: &str| {
            Some(Verdict::new(level, rule, reason).advising(advice))
        };
        match rule.map_or(self.otherwise, |rule| rule.level) {
            Level::Allow | Level::Warn => None,
            Level::Ask if !self.attended => verdict(
                Level::Refuse,
                Rule::Unattended,
                format!("`{}` needs a person's yes, and nobody is there", call.tool),
                "do what is permitted, and say what is left for a person",
            ),
            Level::Ask => {
                let reason = format!("`{}` needs a person's yes", call.tool);
                verdict(Level::Ask, Rule::Permission, reason, "wait for the answer")
            }
            Level::Refuse | Level::Halt => {
                let reason = format!("`{}` is not permitted with these arguments", call.tool);
                verdict(Level::Refuse, Rule::Permission, reason, "do it in a way that is permitted")
            }
        }
    }

    /// Returns the rule that decides over a call of a tool that declares this, if one does.
    pub fn deciding(&self, call: &ToolCall, tool: Option<&ToolDecl>, now: At) -> Option<&Grant> {
        self.rules.iter().find(|rule| rule.fits(call, tool, now))
    }

    /// Returns whether some call of a tool may run without asking.
    pub fn allows_some_call(&self, tool: &str) -> bool {
        let runs = |level: Level| level < Level::Ask;
        let speaks = |rule: &&Grant| matches(&rule.tool, tool);
        for rule in self.rules.iter().filter(speaks) {
            if runs(rule.level) {
                return true;
            }
            // A rule without arguments matches every call: nothing after it is checked.
            if rule.arguments.is_empty() && rule.until.is_none() {
                return false;
            }
        }
        runs(self.otherwise)
    }

    /// Remembers a person's answer, before all other rules except those that refuse some of the
    /// same calls: the person was not asked about these.
    pub(super) fn remember(&mut self, grant: Grant) {
        let same = |rule: &Grant| (&rule.tool, &rule.arguments) == (&grant.tool, &grant.arguments);
        self.rules.retain(|rule| rule.level >= Level::Refuse || !same(rule));
        let place = if grant.stops() { 0 } else { grant.place_behind_refusals(&self.rules) };
        self.rules.insert(place, grant);
    }
}

impl Grant {
    /// Returns whether the rule matches some call of a tool.
    pub fn is_over(&self, tool: &str) -> bool {
        matches(&self.tool, tool)
    }

    /// Returns the position after every rule that refuses some of the same calls. Rules without
    /// effect do not count, because another rule decides about all of their calls before them.
    pub fn place_behind_refusals<'a>(&self, rules: impl IntoIterator<Item = &'a Self>) -> usize {
        let mut place = 0;
        for (at, rule) in (1..).zip(rules) {
            if rule.level >= Level::Refuse && rule.overlaps(self) {
                place = at;
            }
            if rule.covers(self) {
                break;
            }
        }
        place
    }

    /// Returns whether both rules could match the same call.
    fn overlaps(&self, other: &Self) -> bool {
        let meet = |(name, pattern): &(String, String)| {
            let mut same = other.arguments.iter().filter(|(known, _)| known == name);
            same.all(|(_, known)| meets_path(pattern, known))
        };
        meets(&self.tool, &other.tool) && self.arguments.iter().all(meet)
    }

    /// Returns whether the rule matches every call that another one matches, at any time. In doubt
    /// it returns false.
    pub fn covers(&self, other: &Self) -> bool {
        // A `*` can also match a `*`.
        let wider = |(name, pattern): &(String, String)| {
            let mut same = other.arguments.iter().filter(|(known, _)| known == name);
            let tied =
                |known: &str| ties(pattern).eq(ties(known)) && (strays(pattern) || !strays(known));
            same.any(|(_, known)| matches(pattern, known) && (self.stops() || tied(known)))
        };
        self.until.is_none() && matches(&self.tool, &other.tool) && self.arguments.iter().all(wider)
    }

    /// Returns whether the rule matches a call.
    fn fits(&self, call: &ToolCall, tool: Option<&ToolDecl>, now: At) -> bool {
        self.until.is_none_or(|until| now < until)
            && matches(&self.tool, &call.tool)
            && self.arguments.iter().all(|(name, pattern)| {
                let (mut all, mut any, mut given) = (true, false, false);
                arguments::json(call.arguments.get(), |member| {
                    if arguments::says(member.name, name) {
                        let fits =
                            pattern == "*" || self.fits_value((name, pattern), member.value, tool);
                        all &= fits;
                        any |= fits;
                        given |= member.value != b"null";
                    }
                });
                // A missing argument has the tool's default.
                if !given && self.stops() {
                    let usual = tool.and_then(|tool| tool.usual(name));
                    any |= usual.is_some_and(|usual| {
                        self.fits_value((name, pattern), usual.as_bytes(), tool)
                    });
                }
                // If an argument is given twice, either may count.
                any && (all || self.stops())
            })
    }

    /// Returns whether a value matches a pattern. Rules that stop a call match any spelling of
    /// texts and paths, so that no trick gets a call past a person. Rules that allow a call match
    /// only plain texts and the words of a command: never text with escapes, a second command
    /// behind an allowed one, or a path with `..`.
    fn fits_value(
        &self,
        (name, pattern): (&str, &str),
        value: &[u8],
        tool: Option<&ToolDecl>,
    ) -> bool {
        let written = core::str::from_utf8(value).unwrap_or_default();
        let foreign = tool.is_some_and(|tool| tool.foreign);
        let path = foreign || tool.is_some_and(|tool| tool.paths.iter().any(|it| **it == *name));
        if self.stops() {
            // Another program may take blanks around a path for nothing and `\\` for `/`.
            let fits = |text: &str| {
                matches_path(pattern, text)
                    || foreign && matches_path(pattern, &text.trim().replace('\\', "/"))
            };
            let paths = || value::texts(written).iter().any(|it| fits(it));
            return matches(pattern, &value::read(written)) || path && paths();
        }
        if written.contains('\\') {
            return false;
        }
        if path && strays(arguments::quoted(written).unwrap_or(written)) && !strays(pattern) {
            return false;
        }
        let commands = tool.is_some_and(|tool| tool.effect == ToolEffect::Command);
        match arguments::quoted(written) {
            Some(text) if (commands || foreign) && ties(text).ne(ties(pattern)) => false,
            // Another program may end a line where no shell does.
            Some(text) if foreign && breaks(text) && !breaks(pattern) => false,
            Some(text) => matches(pattern, text),
            // A command can be a list of words. No shell reads them, so nothing ties them.
            None if commands => value::words(written).is_some_and(|it| matches(pattern, &it)),
            None => false,
        }
    }

    fn stops(&self) -> bool {
        self.level > Level::Warn
    }
}

#[cfg(test)]
mod tests {
    use super::{Grant, Level};
    use alloc::{vec, vec::Vec};

    fn rule(level: Level, tool: &str, command: Option<&str>) -> Grant {
        let arguments = command.map(|it| ("command".into(), it.into())).into_iter().collect();
        Grant { tool: tool.into(), arguments, level, until: None }
    }

    #[test]
    fn remembered_rule_goes_after_overlapping_denials() {
        use Level::{Allow, Ask, Refuse};
        let test = rule(Allow, "shell", Some("cargo test *"));
        let publish = rule(Refuse, "shell", Some("*publish*"));
        let check = |rules: Vec<Grant>, place: usize| {
            assert_eq!(test.place_behind_refusals(&rules), place, "{rules:?}");
        };
        check(vec![], 0);
        check(vec![publish.clone(), rule(Ask, "shell", None)], 1);
        check(vec![rule(Ask, "shell", Some("git *")), publish.clone()], 2);
        check(vec![rule(Refuse, "sh*", None)], 1);
        check(vec![rule(Refuse, "shell", Some("rm *")), rule(Refuse, "edit", None)], 0);
        // No call reaches the rules after these.
        check(vec![rule(Ask, "*", None), publish.clone()], 0);
        check(vec![rule(Ask, "shell", Some("cargo *")), publish.clone()], 0);
        let ends = Grant { until: Some(crate::id::At(1)), ..rule(Ask, "*", None) };
        check(vec![ends, publish], 2);
    }
}
