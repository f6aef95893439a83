//! What the tools that look at many files do not show: files that a rule keeps a run from
//! reading unasked.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use pointsman_kernel::{
    agent::ToolCall,
    governor::{Grant, Level, Permissions},
    id::At,
    tool::ToolDecl,
};
use serde_json::{json, value::to_raw_value};

/// The rules over files, as one tool has to keep to them.
#[derive(Debug)]
pub(super) struct Veil {
    /// The tool itself and `read`, as far as a rule over paths stops them, with the rules.
    tools: Vec<(ToolDecl, Permissions)>,
    hidden: AtomicBool,
}

impl Veil {
    /// Returns what a call may not show under these rules.
    pub(super) fn of(call: &ToolCall, permissions: &Arc<Permissions>) -> Self {
        let stops = |rule: &Grant| rule.level > Level::Warn;
        // Whether a rule that ends still holds is not known here: the stricter way is taken.
        let mut strict = Permissions::clone(permissions);
        strict.rules.retain(|rule| stops(rule) || rule.until.is_none());
        let over_paths = |rule: &Grant| stops(rule) && !rule.arguments.is_empty();
        let mut tools = Vec::new();
        if strict.rules.iter().any(over_paths) {
            for decl in pointsman_agents::tools() {
                let own = *decl.name == *call.tool;
                if !own && &*decl.name != "read" {
                    continue;
                }
                let mut rules = strict.clone();
                // What is asked for runs because somebody said yes to it.
                let asked = permissions.deciding(call, Some(&decl), At(0)).filter(|_| own);
                if let Some(asked) = asked.filter(|rule| rule.level == Level::Ask) {
                    rules.rules.retain(|rule| rule != asked);
                }
                tools.push((decl, rules));
            }
        }
        Self { tools, hidden: AtomicBool::new(false) }
    }

    /// Returns whether some file may have to be left out.
    pub(super) fn is_over_some(&self) -> bool {
        !self.tools.is_empty()
    }

    /// Returns whether a path, from the root, is not to be shown.
    pub(super) fn hides(&self, path: &Path) -> bool {
        let hidden = self.tools.iter().any(|(tool, rules)| stops(tool, rules, path));
        self.hidden.fetch_or(hidden, Ordering::Relaxed);
        hidden
    }

    /// Returns a line that says that something was left out, if something was.
    pub(super) fn note(&self) -> Option<&'static str> {
        let hidden = self.hidden.load(Ordering::Relaxed);
        hidden.then_some("[files that a rule of the permissions keeps back are left out]")
    }
}

fn stops(tool: &ToolDecl, rules: &Permissions, path: &Path) -> bool {
    let Ok(arguments) = to_raw_value(&json!({ "path": path.to_string_lossy() })) else {
        return true;
    };
    let call = ToolCall { id: String::new(), tool: (*tool.name).into(), arguments };
    let rule = rules.deciding(&call, Some(tool), At(0));
    // A rule over all calls of a tool says nothing of this file.
    rule.is_some_and(|rule| rule.level > Level::Warn && !rule.arguments.is_empty())
}
