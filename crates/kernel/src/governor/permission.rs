//! What may run unasked: per tool and per argument, fixed at the start of a run and
//! added to by a person's answers.

use alloc::{format, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{Level, Rule, Verdict, key};
use crate::{agent::ToolCall, id::At};

/// What may run unasked.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Permissions {
    /// For calls that no rule speaks of. Where nobody is there to be asked, `ask`
    /// is `refuse`.
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
    /// The tool; `*` stands for anything.
    pub tool: String,
    /// Arguments that must fit, as (name, pattern); `*` stands for anything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<(String, String)>,
    /// What may be done: `allow`, `ask` or `refuse`.
    pub level: Level,
    /// Until when it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<At>,
}

impl Default for Permissions {
    /// Nobody is there and nothing is listed: nothing may run.
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

    /// Rules over a call, or nothing if it may run. Of a tool that does as it is told,
    /// the arguments are commands.
    pub(super) fn judge(&self, call: &ToolCall, commands: bool, now: At) -> Option<Verdict> {
        let rule = self.rules.iter().find(|rule| rule.fits(call, commands, now));
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

    /// Returns whether some call of a tool may run unasked.
    pub fn permits_unasked(&self, tool: &str) -> bool {
        let runs = |level: Level| level < Level::Ask;
        let speaks = |rule: &&Grant| matches(&rule.tool, tool);
        for rule in self.rules.iter().filter(speaks) {
            if runs(rule.level) {
                return true;
            }
            // A rule without arguments fits every call: nothing after it is looked at.
            if rule.arguments.is_empty() && rule.until.is_none() {
                return false;
            }
        }
        runs(self.otherwise)
    }

    /// Remembers a person's answer, before all other rules but for those that refuse some
    /// of the same calls: what a person was not asked for, they have not answered.
    pub(super) fn remember(&mut self, grant: Grant) {
        let same = |rule: &Grant| (&rule.tool, &rule.arguments) == (&grant.tool, &grant.arguments);
        self.rules.retain(|rule| rule.level >= Level::Refuse || !same(rule));
        let place = if grant.stops() { 0 } else { grant.place_behind_refusals(&self.rules) };
        self.rules.insert(place, grant);
    }
}

impl Grant {
    /// Returns where the rule comes behind every other that refuses some of the same calls:
    /// the place of the first one that it may stand before. What is never looked at does
    /// not count, because another rule decides over all of these calls before it.
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

    /// Returns whether there could be a call of which both rules speak.
    fn overlaps(&self, other: &Self) -> bool {
        let meet = |(name, pattern): &(String, String)| {
            let mut same = other.arguments.iter().filter(|(known, _)| known == name);
            same.all(|(_, known)| meets(pattern, known))
        };
        meets(&self.tool, &other.tool) && self.arguments.iter().all(meet)
    }

    /// Returns whether the rule speaks of every call that another one speaks of, at any
    /// time. It may say no where that is hard to tell.
    pub fn covers(&self, other: &Self) -> bool {
        // What a `*` stands for may be a `*`.
        let wider = |(name, pattern): &(String, String)| {
            let mut same = other.arguments.iter().filter(|(known, _)| known == name);
            same.any(|(_, known)| {
                matches(pattern, known) && (self.stops() || ties(pattern).eq(ties(known)))
            })
        };
        self.until.is_none() && matches(&self.tool, &other.tool) && self.arguments.iter().all(wider)
    }

    /// Returns whether the rule speaks of a call.
    fn fits(&self, call: &ToolCall, commands: bool, now: At) -> bool {
        self.until.is_none_or(|until| now < until)
            && matches(&self.tool, &call.tool)
            && self.arguments.iter().all(|(name, pattern)| {
                let (mut all, mut any) = (true, false);
                key::json(call.arguments.get(), |member| {
                    if key::says(member.name, name) {
                        let fits =
                            pattern == "*" || self.fits_value(pattern, member.value, commands);
                        all &= fits;
                        any |= fits;
                    }
                });
                // Where an argument is given twice, nobody knows which one counts.
                any && (all || self.stops())
            })
    }

    /// Returns whether a value fits a pattern: what is no text does not. What is
    /// written with escapes is never let through by a pattern, and always read by
    /// rules that stop a call: no trick of writing gets a call past a person. Nor does
    /// another command that is tied to one which a pattern lets through.
    fn fits_value(&self, pattern: &str, value: &[u8], commands: bool) -> bool {
        let text = core::str::from_utf8(value).unwrap_or_default();
        if !text.contains('\\') {
            let Some(text) = key::quoted(text) else { return false };
            let tied = commands && !self.stops() && ties(text).ne(ties(pattern));
            return !tied && matches(pattern, text);
        }
        self.stops()
            && serde_json::from_str::<String>(text).is_ok_and(|text| matches(pattern, &text))
    }

    fn stops(&self) -> bool {
        self.level > Level::Warn
    }
}

/// Returns the characters by which a shell ties commands, files and variables together.
fn ties(command: &str) -> impl Iterator<Item = char> {
    command.chars().filter(|it| matches!(it, ';' | '&' | '|' | '<' | '>' | '`' | '$' | '(' | ')'))
}

/// Returns whether some text fits both patterns.
fn meets(one: &str, other: &str) -> bool {
    // Whether what is left of one and of the other meet, for every rest of the other, the
    // shortest first: no letter of one is left at the beginning.
    let mut left = true;
    let empty = other.chars().rev().map(|it| {
        left &= it == '*';
        left
    });
    let mut below: Vec<bool> = core::iter::once(true).chain(empty).collect();
    for letter in one.chars().rev() {
        let mut last = letter == '*' && below.first() == Some(&true);
        let mut row = Vec::with_capacity(below.len());
        row.push(last);
        for (known, pair) in other.chars().rev().zip(below.windows(2)) {
            let &[behind, here] = pair else { continue };
            last = if letter == '*' || known == '*' {
                here || last
            } else {
                letter == known && behind
            };
            row.push(last);
        }
        below = row;
    }
    below.last() == Some(&true)
}

/// Returns whether a text fits a pattern in which `*` stands for anything.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(first) = parts.next() else { return false };
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut last = None;
    for part in parts {
        // Each part at its first place: what follows has the most room then.
        if let Some(middle) = last.replace(part) {
            let Some((_, after)) = rest.split_once(middle) else { return false };
            rest = after;
        }
    }
    last.map_or(rest.is_empty(), |end: &str| rest.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::{Grant, Level, matches, meets};
    use alloc::{vec, vec::Vec};

    #[test]
    fn patterns() {
        for (pattern, text) in [
            ("shell", "shell"),
            ("*", ""),
            ("*", "anything"),
            ("cargo *", "cargo test"),
            ("*.rs", "src/main.rs"),
            ("src/*/mod.rs", "src/a/b/mod.rs"),
            ("a*b*c", "aXbYbZc"),
        ] {
            assert!(matches(pattern, text), "{pattern} / {text}");
        }
        for (pattern, text) in [
            ("shell", "shells"),
            ("cargo *", "cargo"),
            ("*.rs", "main.rs.bak"),
            ("a*b", "a"),
            ("", "x"),
            ("ab*b", "ab"),
        ] {
            assert!(!matches(pattern, text), "{pattern} / {text}");
        }
    }

    #[test]
    fn patterns_that_meet() {
        for (one, other, wanted) in [
            ("shell", "shell", true),
            ("shell", "shells", false),
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("cargo *", "*publish*", true),
            ("cargo *", "rm *", false),
            ("cargo test *", "cargo *publish", true),
            ("a*b", "*ab", true),
            ("a*b", "b*a", false),
            ("*a*", "b", false),
            ("ab", "a*b*", true),
        ] {
            assert_eq!(meets(one, other), wanted, "{one} / {other}");
            assert_eq!(meets(other, one), wanted, "{other} / {one}");
        }
    }

    fn rule(level: Level, tool: &str, command: Option<&str>) -> Grant {
        let arguments = command.map(|it| ("command".into(), it.into())).into_iter().collect();
        Grant { tool: tool.into(), arguments, level, until: None }
    }

    #[test]
    fn what_is_remembered_stands_behind_what_refuses_some_of_it() {
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
        // Nothing gets as far as what stands behind these.
        check(vec![rule(Ask, "*", None), publish.clone()], 0);
        check(vec![rule(Ask, "shell", Some("cargo *")), publish.clone()], 0);
        let ends = Grant { until: Some(crate::id::At(1)), ..rule(Ask, "*", None) };
        check(vec![ends, publish], 2);
    }
}
