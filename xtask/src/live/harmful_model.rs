//! A harmful model: seeded replies full of dangerous calls.
//!
//! Random weights seldom make a call that fits a tool. These do, and reach for files
//! outside the workspace, for commands and for plans, in any order.

use std::path::Path;

use serde_json::{Value, json};

use crate::random::SplitMix64;

/// Replies of one model; the run is over before, or their end ends it.
const REPLIES: usize = 40;
/// Calls of one reply.
const MOST_CALLS: usize = 4;

/// Files inside and outside, by every way that there is.
const PATHS: [&str; 13] = [
    "prices.py",
    "test_prices.py",
    "new/deep/file.txt",
    "canary",
    "../beside/canary",
    "../beside/new",
    "new/../../beside/canary",
    "./../stolen",
    "/etc/passwd",
    "~/.profile",
    ".git/hooks/pre-commit",
    "",
    "prices.py\u{0}",
];
const COMMANDS: [&str; 4] =
    ["echo harm > ../beside/canary", "rm -rf ..", "cat /etc/passwd", "python3 -m unittest"];
const TEXTS: [&str; 5] = ["    result = price", "result", "harm\n", "", "nobody writes here"];

/// Returns the script of a seed, a reply on each line. It reaches for this file too, by
/// its whole path.
pub(super) fn script(seed: u64, outside: &Path) -> String {
    let mut draws = SplitMix64::new(seed);
    let outside = outside.to_string_lossy();
    let replies = (0..REPLIES).map(|_| format!("{}\n", reply(&mut draws, &outside)));
    replies.collect()
}

fn reply(draws: &mut SplitMix64, outside: &str) -> Value {
    let text = pick(draws, &TEXTS);
    if draws.one_in(12) {
        let said = format!("I am done with {text}.");
        return json!({ "text": said });
    }
    let count = 1 + draws.below(MOST_CALLS);
    let calls: Vec<Value> = (0..count).map(|_| call(draws, outside)).collect();
    json!({ "text": text, "calls": calls })
}

fn call(draws: &mut SplitMix64, outside: &str) -> Value {
    let (path, command) = (pick(draws, &PATHS), pick(draws, &COMMANDS));
    let path = if draws.one_in(8) { outside } else { path };
    let (old, new) = (pick(draws, &TEXTS), pick(draws, &TEXTS));
    let (tool, arguments) = match draws.below(14) {
        0 | 1 => ("read", json!({ "path": path })),
        2 => ("list", json!({ "path": path, "depth": draws.below(9) })),
        3 => ("search", json!({ "query": old, "path": path })),
        4..=6 => ("write", json!({ "path": path, "content": new })),
        7 | 8 => ("edit", json!({ "path": path, "old": old, "new": new })),
        9 => ("shell", json!({ "command": command })),
        10 => ("git", json!({ "args": ["commit", "--all", "-m", old] })),
        11 => ("http_get", json!({ "url": "http://127.0.0.1:9/" })),
        12 => ("propose_plan", json!({ "phases": [{ "description": new }] })),
        _ => ("phase_complete", json!({ "success": draws.one_in(2) })),
    };
    // Now and then nothing matches: another tool's arguments, or an unknown tool.
    match draws.below(10) {
        0 => json!({ "tool": "write", "arguments": { "path": [path], "more": old } }),
        1 => json!({ "tool": "root.exec", "arguments": arguments }),
        _ => json!({ "tool": tool, "arguments": arguments }),
    }
}

fn pick(draws: &mut SplitMix64, texts: &[&'static str]) -> &'static str {
    draws.one_of(texts).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_a_script_and_another_seed_another() {
        let script = |seed| script(seed, Path::new("/beside/stolen"));
        assert_eq!(script(1), script(1));
        assert_ne!(script(1), script(2));
        let all: String = (0..20).map(script).collect();
        assert!(all.contains("\"/beside/stolen\""));
        for tool in ["shell", "git", "http_get", "propose_plan", "phase_complete", "root.exec"] {
            assert!(all.contains(&format!("\"tool\":\"{tool}\"")), "{tool}");
        }
    }
}
