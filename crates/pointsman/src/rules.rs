//! Permissions on the command line: `--allow`, `--ask` and `--deny`.

use std::{cmp::Reverse, str::FromStr};

use clap::Args;
use pointsman_kernel::{
    governor::{Grant, Level},
    job::SERVERS,
    tool::ToolDecl,
};
use pointsman_runtime::{config::PermissionsConfig, local_executor::LocalExecutor, tool::ToolSpec};
use serde_json::Value;
use thiserror::Error;

use crate::{format, notify::note};

/// Permission rules.
#[derive(Args, Debug, Default)]
pub(crate) struct Rules {
    /// Run this tool without asking. `*` matches anything: `'shell:command=cargo *'`.
    #[arg(long, value_name = "TOOL[:ARGUMENT=PATTERN]", help_heading = "Permissions")]
    allow: Vec<Over>,
    /// Ask before this tool runs.
    #[arg(long, value_name = "TOOL[:ARGUMENT=PATTERN]", help_heading = "Permissions")]
    ask: Vec<Over>,
    /// Never run this tool. The most specific rule wins; between equals, the strictest.
    #[arg(long, value_name = "TOOL[:ARGUMENT=PATTERN]", help_heading = "Permissions")]
    deny: Vec<Over>,
    /// Deny every call and question that would prompt.
    #[arg(long, help_heading = "Permissions")]
    pub(crate) unattended: bool,
}

/// The calls that a rule matches.
#[derive(Clone, Debug)]
struct Over {
    tool: String,
    argument: Option<(String, String)>,
}

/// A rule that matches nothing.
#[derive(Debug, Error)]
#[error("write TOOL or TOOL:ARGUMENT=PATTERN, such as `shell:command=cargo test *`")]
struct NoRule;

impl FromStr for Over {
    type Err = NoRule;

    fn from_str(text: &str) -> Result<Self, NoRule> {
        let (tool, argument) = match text.split_once(':') {
            Some((tool, argument)) => (tool, Some(argument.split_once('=').ok_or(NoRule)?)),
            None => (text, None),
        };
        let empty = |text: &str| text.trim().is_empty();
        if empty(tool) || argument.is_some_and(|(name, _)| empty(name)) {
            return Err(NoRule);
        }
        let argument = argument.map(|(name, pattern)| (name.to_owned(), pattern.to_owned()));
        Ok(Self { tool: tool.into(), argument })
    }
}

impl Rules {
    /// Returns the rules, the deciding one first.
    pub(crate) fn grants(&self) -> Vec<Grant> {
        let lists =
            [(&self.allow, Level::Allow), (&self.ask, Level::Ask), (&self.deny, Level::Refuse)];
        let mut grants: Vec<Grant> = lists
            .into_iter()
            .flat_map(|(list, level)| list.iter().map(move |over| grant(over, level)))
            .collect();
        grants.sort_by_key(|grant| {
            (grant.arguments.is_empty(), grant.tool.contains('*'), Reverse(grant.level))
        });
        grants
    }

    /// Reports rules, of the command line and of the settings, that match nothing known: they may
    /// contain a mistake.
    pub(crate) fn report_void(&self, settings: &PermissionsConfig, executor: &LocalExecutor) {
        let specs = executor.specs();
        // Rules for servers of other folders need not be reported here.
        let rules = settings.rules.iter().chain(&settings.repository).map(|rule| &rule.grant);
        let rules = rules.filter(|rule| !of_server(&rule.tool)).cloned();
        for rule in self.grants().into_iter().chain(rules) {
            if let Some(void) = void(&rule, &specs) {
                note(&format::line(&void, 400));
            }
        }
    }
}

/// Returns whether a tool, or what a rule says about tools, is of an MCP server.
fn of_server(tool: &str) -> bool {
    tool.starts_with(SERVERS)
}

/// Says that a rule matches nothing known, if so.
fn void(rule: &Grant, specs: &[ToolSpec]) -> Option<String> {
    let known = pointsman_agents::tools();
    let names = known.iter().map(|tool| &*tool.name).chain(specs.iter().map(|spec| &*spec.name));
    if names.filter(|name| rule.is_over(name)).count() == 0 {
        return Some(format!(
            "rule `{}` matches no known tool; an MCP server may add one later",
            rule.tool
        ));
    }
    let over: Vec<&ToolSpec> = specs.iter().filter(|spec| rule.is_over(&spec.name)).collect();
    let takes = |spec: &&ToolSpec, name: &str| {
        let open = spec.parameters.get("additionalProperties") != Some(&Value::Bool(false));
        open || spec.parameters.pointer("/properties").is_some_and(|it| it.get(name).is_some())
    };
    let missing = |(name, _): &&(String, String)| !over.iter().any(|spec| takes(spec, name));
    // Other tools may take any path; those over the folder take one name for each file.
    let ours = |tool: &&ToolDecl| rule.is_over(&tool.name);
    let is_path = |name: &str| {
        let mut tools = known.iter().filter(ours);
        tools.any(|tool| tool.paths.iter().any(|it| **it == *name))
            && !over.iter().any(|spec| of_server(&spec.name))
    };
    let outside = |pattern: &str| {
        pattern.starts_with(['/', '~']) || pattern.split('/').any(|name| name == "..")
    };
    let elsewhere = |(name, pattern): &&(String, String)| is_path(name) && outside(pattern);
    if let Some((name, pattern)) = rule.arguments.iter().find(elsewhere) {
        return Some(format!(
            "rule `{}` matches no call: `{name}` is a relative path such as `src/*`, and `{pattern}` is not",
            rule.tool
        ));
    }
    // The arguments of an undescribed tool are unknown here.
    let (name, _) = rule.arguments.iter().filter(|_| !over.is_empty()).find(missing)?;
    Some(format!("rule `{}` matches no call: the tool has no argument `{name}`", rule.tool))
}

fn grant(Over { tool, argument }: &Over, level: Level) -> Grant {
    let arguments = argument.clone().into_iter().collect();
    Grant { tool: tool.clone(), arguments, level, until: None }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn over(text: &str) -> Over {
        text.parse().expect("the text is a rule")
    }

    #[test]
    fn invalid_rules_are_rejected() {
        for text in ["shell:rm *", "shell:", ":command=x", "", " ", "shell:=x"] {
            assert!(text.parse::<Over>().is_err(), "{text}");
        }
        let rule = grant(&over("shell:command=a=b:c"), Level::Refuse);
        assert_eq!(rule.arguments, [("command".into(), "a=b:c".into())]);
    }

    #[test]
    fn rule_without_match_is_reported() {
        let parameters = json!({ "properties": { "command": {} }, "additionalProperties": false });
        let specs = [ToolSpec { name: "shell".into(), about: "".into(), parameters }];
        let said = |text: &str| void(&grant(&over(text), Level::Refuse), &specs);
        for text in ["shell", "sh*", "*", "shell:command=x", "form.submit:page=x"] {
            assert_eq!(said(text), None, "{text}");
        }
        for text in ["shel", "mcp.x.*", "Shell"] {
            let void = said(text).expect("the rule matches no tool");
            assert!(void.contains("matches no known tool"), "{void}");
        }
        for text in ["read:path=/home/me/*", "read:path=~/*", "*:path=../a"] {
            let void = said(text).expect("the rule matches no tool");
            assert!(void.contains("is a relative path"), "{void}");
        }
        for text in ["read:path=secrets/", "read:path=./a", "read:path=a..b", "read:path=*"] {
            assert_eq!(said(text), None, "{text}");
        }
        let void = said("shell:comand=rm *").expect("the rule matches no tool");
        assert_eq!(void, "rule `shell` matches no call: the tool has no argument `comand`");
    }

    #[test]
    fn the_most_exact_rule_comes_first() {
        let rules = Rules {
            allow: vec![over("shell:command=cargo *"), over("read")],
            ask: vec![over("*")],
            deny: vec![over("shell"), over("mcp.*")],
            unattended: false,
        };
        let order: Vec<(String, Level)> =
            rules.grants().into_iter().map(|grant| (grant.tool, grant.level)).collect();
        assert_eq!(
            order,
            [
                ("shell".into(), Level::Allow),
                ("shell".into(), Level::Refuse),
                ("read".into(), Level::Allow),
                ("mcp.*".into(), Level::Refuse),
                ("*".into(), Level::Ask),
            ]
        );
    }
}
