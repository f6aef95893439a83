//! What "always" can mean for a call: the rules that a person may choose from, the most
//! exact one first.
//!
//! A `*` in a rule stands for anything, so a rule is offered only where that is what a
//! person would expect of it.

use pointsman_agents::{PLAN_TOOL, form::SUBMIT_TOOL};
use pointsman_kernel::{
    agent::ToolCall,
    governor::{Grant, Level},
};
use serde_json::{Map, Value};

/// Programs whose second word says what they do.
const SPEAKING: &[&str] = &[
    "bun",
    "bundle",
    "cargo",
    "composer",
    "deno",
    "docker",
    "dotnet",
    "gh",
    "git",
    "go",
    "gradle",
    "just",
    "kubectl",
    "make",
    "mix",
    "mvn",
    "npm",
    "pip",
    "pnpm",
    "poetry",
    "rustup",
    "task",
    "terraform",
    "uv",
    "yarn",
];

/// Words after those that run whatever follows them.
const RUNNING: &[&str] = &["dlx", "eval", "exec", "run", "x"];

/// Programs that run whatever they are given: a pattern of theirs would allow anything.
const WRAPPING: &[&str] = &[
    ".", "ash", "awk", "bash", "builtin", "bunx", "busybox", "chroot", "command", "csh", "dash",
    "doas", "env", "eval", "exec", "find", "fish", "flock", "gawk", "ionice", "ksh", "lua", "nice",
    "node", "nodejs", "nohup", "npx", "parallel", "perl", "php", "pnpx", "python", "python2",
    "python3", "Rscript", "rsync", "ruby", "script", "sed", "setsid", "sh", "source", "ssh",
    "stdbuf", "strace", "su", "sudo", "tar", "tclsh", "time", "timeout", "unshare", "uvx", "watch",
    "xargs", "zsh",
];

/// Returns whether a yes to one call of a tool is a yes to no other: to a plan, or to
/// sending a form.
pub fn is_once(tool: &str) -> bool {
    [PLAN_TOOL, SUBMIT_TOOL].contains(&tool)
}

/// Returns the rules by which calls like this one could run unasked from now on. There
/// may be none: then it can only be allowed once.
pub fn grants(call: &ToolCall) -> Vec<Grant> {
    let arguments = serde_json::from_str::<Map<String, Value>>(call.arguments.get());
    let arguments = arguments.unwrap_or_default();
    let text = |name: &str| arguments.get(name).and_then(Value::as_str);
    let rule = |name: &str, pattern: String| {
        let arguments = vec![(name.to_owned(), pattern)];
        Grant { arguments, ..all(&call.tool) }
    };
    match call.tool.as_str() {
        tool if is_once(tool) => Vec::new(),
        "shell" => {
            let command = text("command").unwrap_or_default();
            let exact = Some(command.to_owned()).filter(|it| is_exact(it));
            exact.into_iter().chain(first_words(command)).map(|it| rule("command", it)).collect()
        }
        "edit" | "write" => {
            let path = text("path").unwrap_or_default();
            let exact = Some(path.to_owned()).filter(|it| is_exact(it));
            let folder = path.rsplit_once('/').map(|(folder, _)| format!("{folder}/"));
            let folder = folder.filter(|it| is_exact(it)).map(|it| format!("{it}*"));
            let rules = exact.into_iter().chain(folder).map(|it| rule("path", it));
            rules.chain([all(&call.tool)]).collect()
        }
        "git" => {
            // A list of words is read with blanks between them.
            let words = arguments.get("args").and_then(Value::as_array);
            let words: Option<Vec<&str>> =
                words.and_then(|words| words.iter().map(Value::as_str).collect());
            let words = words.unwrap_or_default();
            let plain = |word: &&str| is_exact(word) && !word.contains(' ');
            let exact = words.iter().all(&plain).then(|| words.join(" "));
            let verb = words.first().filter(|verb| plain(verb)).map(|verb| format!("{verb}*"));
            let rules = exact.filter(|it| !it.is_empty()).into_iter().chain(verb);
            rules.map(|it| rule("args", it)).chain([all(&call.tool)]).collect()
        }
        "http_get" => {
            let url = text("url").unwrap_or_default();
            let exact = Some(url.to_owned()).filter(|it| is_exact(it));
            exact.into_iter().map(|it| rule("url", it)).chain([all(&call.tool)]).collect()
        }
        _ => vec![all(&call.tool)],
    }
}

/// Returns the rule by which every call of a tool runs, which nobody gets without asking for it
/// in words. There is none where a yes is for one call alone.
pub fn whole(call: &ToolCall) -> Option<Grant> {
    (!is_once(&call.tool)).then(|| all(&call.tool))
}

/// Returns the rule that fits this call as narrowly as a rule can: the same command, file or
/// address. There is none where no pattern says just that.
pub fn exact(call: &ToolCall) -> Option<Grant> {
    let narrow = |grant: &Grant| {
        let mut patterns = grant.arguments.iter().map(|(_, pattern)| pattern);
        !grant.arguments.is_empty() && patterns.all(|pattern| !pattern.contains('*'))
    };
    grants(call).into_iter().next().filter(narrow)
}

fn all(tool: &str) -> Grant {
    Grant { tool: tool.into(), arguments: Vec::new(), level: Level::Allow, until: None }
}

/// Returns whether a rule with this text fits the text and nothing else. What JSON writes
/// with escapes is never let through by a rule.
fn is_exact(text: &str) -> bool {
    let plain = |it: char| !it.is_control() && !matches!(it, '*' | '"' | '\\');
    !text.trim().is_empty() && text.chars().all(&plain)
}

/// Returns a pattern for commands that begin as this one does, where its first words say
/// enough and it is one command.
fn first_words(command: &str) -> Option<String> {
    let plain = |it: char| it.is_ascii_alphanumeric() || " _-./,:=@+%".contains(it);
    if !command.chars().all(&plain) || command != command.trim() || command.contains("  ") {
        return None;
    }
    let words: Vec<&str> = command.split(' ').collect();
    let (program, rest) = words.split_first()?;
    let name = |word: &str| word.chars().all(|it| it.is_ascii_alphanumeric() || "_-".contains(it));
    // A path could be to anything, and a variable before the program changes what it does.
    if !name(program) || program.starts_with('-') || WRAPPING.contains(program) {
        return None;
    }
    if !SPEAKING.contains(program) {
        return (!rest.is_empty()).then(|| format!("{program} *"));
    }
    let (verb, rest) = rest.split_first()?;
    let says = name(verb) && !verb.starts_with('-');
    let (mut head, mut left) = (format!("{program} {verb}"), rest);
    if RUNNING.contains(verb) {
        // `npm run lint` is one thing, and `npm run` is all of them; so is `uv run python`.
        let (what, rest) = rest.split_first()?;
        let anything = *verb != "run" || WRAPPING.contains(what);
        if !name(what) || what.starts_with('-') || anything {
            return None;
        }
        head = format!("{head} {what}");
        left = rest;
    }
    (says && !left.is_empty()).then(|| format!("{head} *"))
}

#[cfg(test)]
mod tests {
    use serde_json::{json, value::to_raw_value};

    use super::*;

    fn offered(tool: &str, arguments: Value) -> Vec<String> {
        let arguments = to_raw_value(&arguments).expect("it is JSON");
        let call = ToolCall { id: "1".into(), tool: tool.into(), arguments };
        let shown = |grant: Grant| {
            assert_eq!((grant.tool.as_str(), grant.level), (tool, Level::Allow));
            grant.arguments.first().map_or_else(|| tool.to_owned(), |(_, it)| it.clone())
        };
        grants(&call).into_iter().map(shown).collect()
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
    fn what_ties_commands_together_is_offered_as_it_is_or_not_at_all() {
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
            let arguments = to_raw_value(&arguments).expect("it is JSON");
            exact(&ToolCall { id: "1".into(), tool: tool.into(), arguments })
        };
        let command = narrowest("shell", json!({ "command": "echo one" })).expect("a rule");
        assert_eq!(command.arguments, [("command".into(), "echo one".into())]);
        let file = narrowest("write", json!({ "path": "a/b", "content": "" })).expect("a rule");
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
        let submit = json!({ "class": "send", "label": "Send", "page": "p", "selector": "#go" });
        assert!(
            offered("form.submit", submit).is_empty(),
            "a yes to one form is a yes to no other"
        );
    }
}
