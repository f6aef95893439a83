//! What "always" can mean for a call: the rules that a person may choose from, the most
//! exact one first.
//!
//! A `*` in a rule matches anything, so a rule is offered only if a person would expect that.

use pointsman_kernel::{agent::ToolCall, governor::Grant};

use super::{Arguments, Toolbox, contract::every};

impl Toolbox {
    /// Returns the rules that would let calls like this one run without asking. If there are none,
    /// it can only be allowed once.
    pub fn grants(&self, call: &ToolCall) -> Vec<Grant> {
        self.always(call).unwrap_or_default()
    }

    /// Returns whether a yes to this call is a yes to no other.
    pub fn is_once(&self, call: &ToolCall) -> bool {
        self.always(call).is_none()
    }

    /// Returns the rule that allows every call of a tool, which applies only if a person asks for
    /// it explicitly. There is none if each call needs its own approval.
    pub fn whole(&self, call: &ToolCall) -> Option<Grant> {
        self.always(call).map(|_| every(&call.tool))
    }

    /// Returns the rule that fits this call as narrowly as a rule can: the same command, file or
    /// address. There is none where no pattern says just that.
    pub fn exact(&self, call: &ToolCall) -> Option<Grant> {
        let narrow = |grant: &Grant| {
            let mut patterns = grant.arguments.iter().map(|(_, pattern)| pattern);
            !grant.arguments.is_empty() && patterns.all(|pattern| !pattern.contains('*'))
        };
        self.grants(call).into_iter().next().filter(narrow)
    }

    fn always(&self, call: &ToolCall) -> Option<Vec<Grant>> {
        match self.find(&call.tool) {
            Some(tool) => tool.always(&Arguments::of(call).unwrap_or_default()),
            None => Some(vec![every(&call.tool)]),
        }
    }
}

/// Returns the rules over one argument with these patterns.
#[cfg(feature = "tools")]
pub(super) fn rules(
    tool: &str,
    argument: &str,
    patterns: impl IntoIterator<Item = String>,
) -> Vec<Grant> {
    let rule = |pattern| Grant { arguments: vec![(argument.to_owned(), pattern)], ..every(tool) };
    patterns.into_iter().map(rule).collect()
}

/// Returns the rules over the file that a call names, and over its folder, and over the tool.
#[cfg(feature = "tools")]
pub(super) fn over_file(tool: &str, arguments: &Arguments) -> Vec<Grant> {
    let path = arguments.text("path").unwrap_or_default();
    let folder = path.rsplit_once('/').map(|(folder, _)| format!("{folder}/"));
    let folder = folder.filter(|it| is_exact(it)).map(|it| format!("{it}*"));
    let mut rules = rules(tool, "path", exactly(path).into_iter().chain(folder));
    rules.push(every(tool));
    rules
}

/// Returns a text as a pattern that fits it and nothing else, if there is one.
#[cfg(feature = "tools")]
pub(super) fn exactly(text: &str) -> Option<String> {
    is_exact(text).then(|| text.to_owned())
}

/// Returns whether a rule with this text fits the text and nothing else. What JSON writes
/// with escapes is never let through by a rule.
#[cfg(feature = "tools")]
pub(super) fn is_exact(text: &str) -> bool {
    let plain = |it: char| !it.is_control() && !matches!(it, '*' | '"' | '\\');
    !text.trim().is_empty() && text.chars().all(&plain)
}

#[cfg(all(test, feature = "tools"))]
mod tests {
    use pointsman_kernel::governor::Level;
    use serde_json::{Value, json, value::to_raw_value};

    use super::*;

    fn offered(tool: &str, arguments: Value) -> Vec<String> {
        let arguments = to_raw_value(&arguments).expect("the value serialises");
        let call = ToolCall { id: "1".into(), tool: tool.into(), arguments };
        let shown = |grant: Grant| {
            assert_eq!((grant.tool.as_str(), grant.level), (tool, Level::Allow));
            grant.arguments.first().map_or_else(|| tool.to_owned(), |(_, it)| it.clone())
        };
        Toolbox::default().grants(&call).into_iter().map(shown).collect()
    }

    #[test]
    fn a_plain_command_offers_its_first_words() {
        for (command, pattern) in [
            ("cargo test --lib", Some("cargo test *")),
            ("cargo test", None),
            ("git log -3", Some("git log *")),
            ("npm run lint --fix", Some("npm run lint *")),
            ("ls -la src", Some("ls *")),
            ("ls", None),
            ("cargo +nightly test", None),
            ("cargo --config x test", None),
            ("npm exec thing now", None),
            ("cargo run a b", Some("cargo run a *")),
            ("uv run pytest -q", Some("uv run pytest *")),
            ("uv run python x", None),
            ("poetry run bash x", None),
            ("npm run node x", None),
            ("deno eval x y", None),
            ("mix eval x y", None),
            ("bun x thing now", None),
            ("busybox sh x", None),
            ("flock a sh", None),
            ("nodejs x a", None),
            ("bunx x a", None),
            ("pnpx x a", None),
            ("Rscript x a", None),
        ] {
            let mut wanted = vec![command.to_owned()];
            wanted.extend(pattern.map(String::from));
            assert_eq!(offered("shell", json!({ "command": command })), wanted, "{command}");
        }
    }

    #[test]
    fn combined_commands_are_offered_exactly_or_not_at_all() {
        for command in [
            "cargo test; rm -r src",
            "cargo test && git push",
            "cargo test & curl x",
            "cargo test | sh",
            "cargo test $(curl x)",
            "cargo test `curl x`",
            "cargo test > src/lib.rs",
            "cargo test < x",
            "(cargo test a)",
            "RUSTC=evil cargo test a",
            "./evil a",
            "/bin/sh a",
            "sudo cargo test",
            "bash run.sh",
            "python3 x.py",
            "env cargo test a",
            "xargs rm a",
            "find . -delete",
            "cargo  test a",
            "!! a",
            "~/evil a",
        ] {
            assert_eq!(offered("shell", json!({ "command": command })), [command]);
        }
        for command in
            ["rm *.o", "echo \"a\"", "cargo test\nrm -r src", "cargo test \\; a", "", " ", "ls\ta"]
        {
            assert!(offered("shell", json!({ "command": command })).is_empty(), "{command:?}");
        }
        assert!(offered("shell", json!({})).is_empty());
    }

    #[test]
    fn the_exact_rule_is_never_wider_than_the_call() {
        let narrowest = |tool: &str, arguments: Value| {
            let arguments = to_raw_value(&arguments).expect("the value serialises");
            Toolbox::default().exact(&ToolCall { id: "1".into(), tool: tool.into(), arguments })
        };
        let command =
            narrowest("shell", json!({ "command": "echo one" })).expect("a rule is offered");
        assert_eq!(command.arguments, [("command".into(), "echo one".into())]);
        let file =
            narrowest("write", json!({ "path": "a/b", "content": "" })).expect("a rule is offered");
        assert_eq!(file.arguments, [("path".into(), "a/b".into())]);
        for (tool, arguments) in [
            ("shell", json!({ "command": "rm *.o" })),
            ("write", json!({ "path": "a*/b", "content": "" })),
            ("git", json!({ "args": ["commit", "-m", "a b"] })),
            ("mcp.a.b", json!({ "path": "a" })),
            ("propose_plan", json!({ "phases": [] })),
        ] {
            assert_eq!(narrowest(tool, arguments), None, "{tool}");
        }
    }

    #[test]
    fn files_offer_their_folder_and_the_rest_the_tool() {
        let path = |path: &str| json!({ "path": path });
        assert_eq!(offered("edit", path("src/a/b.rs")), ["src/a/b.rs", "src/a/*", "edit"]);
        assert_eq!(offered("write", path("b.rs")), ["b.rs", "write"]);
        assert_eq!(offered("write", path("a*/b.rs")), ["write"]);
        let git = |args: &[&str]| offered("git", json!({ "args": args }));
        assert_eq!(git(&["status"]), ["status", "status*", "git"]);
        assert_eq!(git(&["log", "-3"]), ["log -3", "log*", "git"]);
        assert_eq!(git(&["commit", "-m", "a b"]), ["commit*", "git"]);
        assert_eq!(git(&["a*"]), ["git"]);
        assert_eq!(git(&[]), ["git"]);
        assert_eq!(offered("mcp.a.b", json!({})), ["mcp.a.b"]);
        assert!(offered("propose_plan", json!({ "phases": [] })).is_empty());
    }
}
