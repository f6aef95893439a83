//! Permissions on the command line: `--allow`, `--ask` and `--deny`.

use std::cmp::Reverse;

use clap::Args;
use pointsman_kernel::governor::{Grant, Level};

/// What may run unasked.
#[derive(Args, Debug, Default)]
pub(crate) struct Rules {
    /// Let this tool run unasked; `*` stands for anything, and an argument can be named.
    #[arg(long, value_name = "TOOL[:ARGUMENT=PATTERN]", help_heading = "Permissions")]
    allow: Vec<String>,
    /// Ask before this tool runs.
    #[arg(long, value_name = "TOOL[:ARGUMENT=PATTERN]", help_heading = "Permissions")]
    ask: Vec<String>,
    /// Never let this tool run. The most exact rule decides; between equals, the strictest.
    #[arg(long, value_name = "TOOL[:ARGUMENT=PATTERN]", help_heading = "Permissions")]
    deny: Vec<String>,
    /// Nobody is there: what would be asked for is denied.
    #[arg(long, help_heading = "Permissions")]
    pub(crate) unattended: bool,
}

impl Rules {
    /// Returns the rules, the one that decides first at the front.
    pub(crate) fn grants(&self) -> Vec<Grant> {
        let lists =
            [(&self.allow, Level::Allow), (&self.ask, Level::Ask), (&self.deny, Level::Refuse)];
        let mut grants: Vec<Grant> = lists
            .into_iter()
            .flat_map(|(list, level)| list.iter().map(move |text| grant(text, level)))
            .collect();
        grants.sort_by_key(|grant| {
            (grant.arguments.is_empty(), grant.tool.contains('*'), Reverse(grant.level))
        });
        grants
    }
}

fn grant(text: &str, level: Level) -> Grant {
    let (tool, arguments) = match text.split_once(':') {
        Some((tool, rest)) if rest.contains('=') => {
            let (name, pattern) = rest.split_once('=').unwrap_or((rest, "*"));
            (tool, vec![(name.to_owned(), pattern.to_owned())])
        }
        _ => (text, Vec::new()),
    };
    Grant { tool: tool.into(), arguments, level, until: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_exact_rule_comes_first() {
        let rules = Rules {
            allow: vec!["shell:command=cargo *".into(), "read".into()],
            ask: vec!["*".into()],
            deny: vec!["shell".into(), "mcp.*".into()],
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
