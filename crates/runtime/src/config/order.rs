//! The order of rules: those of the command line, of the user, of a repository, and those
//! that count where nobody has said otherwise.

use pointsman_kernel::governor::{Grant, Level, Permissions};

use super::{Dated, PermissionsConfig, only_looks, rule};
use crate::{clock::now_ms, tool::Toolbox};

impl PermissionsConfig {
    /// Returns what a run that begins now may do unasked. The first rule that fits a call
    /// decides: those of the command line, then what the repository forbids, then the
    /// user's, then the rest of the repository's, and in the end the tools that only look.
    pub fn permissions(&self, flags: Vec<Grant>, attended: bool) -> Permissions {
        self.permissions_with(flags, &[], attended)
    }

    /// The same, with rules that nobody has typed, such as those of a setting. Where they
    /// and the rules of the files speak of the same call, the stricter one decides.
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

/// Returns the usual rules, and before them what the others say of the same tools. Where
/// both speak of a call, the stricter one decides.
fn stricter(files: &[Grant], usual: &[Grant]) -> Vec<Grant> {
    let mut rules = Vec::new();
    for known in files {
        // A rule over many tools says of each of these what it says of all.
        let any = Grant { arguments: Vec::new(), until: None, ..known.clone() };
        for usual in usual.iter().filter(|usual| any.covers(usual)) {
            // What is forbidden is so whatever the usual rule tells apart.
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
