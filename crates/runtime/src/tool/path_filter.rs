//! Files that tools which read many files must not show: a rule keeps the run from reading them
//! without asking.

use std::{
    fs::{self, Metadata},
    os::unix::fs::MetadataExt as _,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use pointsman_kernel::{
    agent::ToolCall,
    governor::{Grant, Level, Permissions},
    id::At,
    tool::ToolDecl,
};
use serde_json::{json, value::to_raw_value};

use super::{Tool as _, folder::Folder, read::ReadTool};

/// The rules over files, as one tool has to keep to them.
#[derive(Debug)]
pub(super) struct PathFilter {
    /// The tool itself and `read`, as far as a rule over paths stops them, with the rules.
    tools: Vec<(ToolDecl, Permissions)>,
    hidden: AtomicBool,
}

impl PathFilter {
    /// Returns what a call of a tool may not show under these rules.
    pub(super) fn of(call: &ToolCall, own: &ToolDecl, permissions: &Permissions) -> Self {
        let stops = |rule: &Grant| rule.level > Level::Warn;
        // Whether a rule that ends still holds is not known here: the stricter way is taken.
        let mut strict = permissions.clone();
        strict.rules.retain(|rule| stops(rule) || rule.until.is_none());
        let over_paths = |rule: &Grant| stops(rule) && !rule.arguments.is_empty();
        let mut tools = Vec::new();
        if strict.rules.iter().any(over_paths) {
            let mut rules = strict.clone();
            // A call that needs approval runs only after a person's approval.
            let asked = permissions.deciding(call, Some(own), At(0));
            if let Some(asked) = asked.filter(|rule| rule.level == Level::Ask) {
                rules.rules.retain(|rule| rule != asked);
            }
            tools.push((own.clone(), rules));
            let read = ReadTool.decl();
            if read.name != own.name {
                tools.push((read, strict));
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

    /// The same for a file, which may have other names that a rule matches.
    pub(super) fn hides_file(&self, folder: &Folder, path: &Path) -> bool {
        let named = self.is_over_some() && names(folder, path) > 1;
        self.hidden.fetch_or(named, Ordering::Relaxed);
        named || self.hides(path)
    }

    /// Returns a line that says that something was left out, if something was.
    pub(super) fn note(&self) -> Option<&'static str> {
        let hidden = self.hidden.load(Ordering::Relaxed);
        hidden.then_some("[files hidden by a permission rule are left out]")
    }
}

/// Returns how many names a file has: hard links. Anything but a file has one.
fn names(folder: &Folder, path: &Path) -> u64 {
    let found = fs::symlink_metadata(folder.root().join(path));
    found.ok().filter(Metadata::is_file).map_or(1, |file| file.nlink())
}

/// Returns why a call may not touch the file that it names: the file has other names too, and only
/// a path rule allows the call or hides other files. A person's approval of the call counts, and
/// so does a rule that names this very file.
pub(super) fn another_name(
    call: &ToolCall,
    own: &ToolDecl,
    path: &str,
    folder: &Folder,
    permissions: &Permissions,
) -> Option<String> {
    let inside = folder.inside(path).ok()?;
    let names = names(folder, &inside);
    if names < 2 {
        return None;
    }
    let allowed = match permissions.deciding(call, Some(own), At(0)) {
        Some(rule) if rule.level > Level::Warn => true,
        Some(rule) if !rule.arguments.is_empty() => {
            rule.arguments.iter().all(|(_, pattern)| !pattern.contains('*'))
        }
        None if permissions.otherwise > Level::Warn => true,
        _ => !PathFilter::of(call, own, permissions).is_over_some(),
    };
    (!allowed).then(|| {
        format!(
            "`{path}` has {names} names (hard links), and path rules cannot tell which one is meant, so it is skipped; a person can allow it with a rule that names this file, such as `{}:path={path}`",
            call.tool
        )
    })
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
