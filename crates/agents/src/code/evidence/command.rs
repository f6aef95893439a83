//! Command lines: what is in front of the runner, and whose exit status it is.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

/// How a command line runs tests.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Ran {
    /// The exit status is the runner's own.
    Decides,
    /// More commands follow the runner, and run only if it succeeds.
    Chained,
    /// The exit status is another command's, as at the end of a pipe.
    Hidden,
    /// It may run tests or not.
    Unknown,
}

/// What stands between two commands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Joint {
    And,
    Or,
    Pipe,
    Next,
}

/// Programs with which their first words run tests.
const RUNNERS: &[&[&str]] = &[
    &["cargo", "test"],
    &["cargo", "t"],
    &["cargo", "nextest", "run"],
    &["cargo", "nextest"],
    &["cargo", "xtask", "test"],
    &["go", "test"],
    &["gotestsum"],
    &["pytest"],
    &["py.test"],
    &["unittest"],
    &["nose2"],
    &["tox"],
    &["nox"],
    &["manage.py", "test"],
    &["jest"],
    &["vitest"],
    &["mocha"],
    &["ava"],
    &["node", "--test"],
    &["bun", "test"],
    &["deno", "test"],
    &["npm", "test"],
    &["npm", "t"],
    &["npm", "run", "test"],
    &["pnpm", "test"],
    &["pnpm", "run", "test"],
    &["yarn", "test"],
    &["yarn", "run", "test"],
    &["rspec"],
    &["rake", "test"],
    &["rake", "spec"],
    &["rails", "test"],
    &["phpunit"],
    &["pest"],
    &["composer", "test"],
    &["dotnet", "test"],
    &["mvn", "test"],
    &["mvn", "verify"],
    &["gradle", "test"],
    &["gradle", "check"],
    &["gradlew", "test"],
    &["gradlew", "check"],
    &["mvnw", "test"],
    &["mvnw", "verify"],
    &["ctest"],
    &["make", "test"],
    &["make", "check"],
    &["just", "test"],
    &["task", "test"],
    &["bazel", "test"],
    &["swift", "test"],
    &["mix", "test"],
    &["stack", "test"],
    &["cabal", "test"],
    &["zig", "build", "test"],
    &["meson", "test"],
    &["sbt", "test"],
];
/// Words in front of a program that run it, and how many words of their own follow.
const WRAPPERS: &[(&str, usize)] = &[
    ("timeout", 1),
    ("time", 0),
    ("env", 0),
    ("nice", 0),
    ("nohup", 0),
    ("exec", 0),
    ("command", 0),
    ("npx", 0),
    ("pnpx", 0),
    ("bunx", 0),
    ("xvfb-run", 0),
    ("php", 0),
    ("ruby", 0),
];
/// The same in two or more words.
const LONG_WRAPPERS: &[&[&str]] = &[
    &["uv", "run"],
    &["poetry", "run"],
    &["pipenv", "run"],
    &["hatch", "run"],
    &["bundle", "exec"],
    &["npm", "exec"],
    &["pnpm", "exec"],
    &["pnpm", "dlx"],
    &["yarn", "exec"],
    &["yarn", "dlx"],
    &["python", "-m"],
    &["python3", "-m"],
    &["python"],
    &["python3"],
];
/// Options of wrappers that take a word of their own.
const WITH_WORD: &[&str] = &["-k", "-s", "-n", "-u", "--signal", "--kill-after", "-p"];
/// Programs that show or change text: what they print is nobody's result.
const SHOW: &[&str] = &[
    "cat", "head", "tail", "less", "more", "grep", "rg", "egrep", "sed", "awk", "echo", "printf",
    "git", "ls", "find", "diff", "jq", "sort", "wc", "cut", "tee", "strings", "curl",
];

/// Returns how a command line runs tests, if it could.
pub(super) fn ran(line: &str, named: &[String]) -> Option<Ran> {
    let commands = split(line);
    let is_test = |words: &[String]| {
        let own = strip(words);
        RUNNERS.iter().any(|runner| starts(&own, runner)) || is_named(words, &own, named)
    };
    let Some(at) = commands.iter().position(|(words, _)| is_test(words)) else {
        let first = commands.iter().find(|(words, _)| !is_setting(words));
        let (words, joint) = first?;
        let shows = strip(words).first().is_some_and(|word| SHOW.contains(&&**word));
        return (!shows && !words.is_empty() && *joint != Joint::Pipe).then_some(Ran::Unknown);
    };
    let mut joints = commands.iter().skip(at).map(|(_, joint)| *joint);
    let last = commands.len().saturating_sub(1);
    let after: Vec<Joint> = joints.by_ref().take(last.saturating_sub(at)).collect();
    Some(if after.is_empty() {
        Ran::Decides
    } else if after.iter().all(|joint| *joint == Joint::And) {
        Ran::Chained
    } else {
        Ran::Hidden
    })
}

fn is_named(words: &[String], own: &[String], named: &[String]) -> bool {
    named.iter().any(|test| {
        let test: Vec<&str> = test.split_whitespace().collect();
        !test.is_empty() && (starts(words, &test) || starts(own, &test))
    })
}

/// Returns whether a command only sets the scene for the next one.
fn is_setting(words: &[String]) -> bool {
    words.first().is_none_or(|word| {
        matches!(word.as_str(), "cd" | "set" | "export" | "source" | "." | "pushd")
            || (words.len() == 1 && is_assignment(word))
    })
}

/// Returns whether words start with others; options may stand between them.
fn starts(words: &[String], with: &[&str]) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    let Some((wanted, more)) = with.split_first() else { return false };
    let name = program.rsplit('/').next().unwrap_or(program);
    if name != *wanted {
        return false;
    }
    // `cargo +nightly test`, `mvn -q test`, `make -j4 check`, `go -C x test`.
    let mut rest = rest.iter().map(String::as_str);
    more.iter().all(|word| {
        let skip =
            |other: &&str| *other != *word && (other.starts_with(['-', '+']) || is_goal(other));
        rest.find(|other| !skip(other)) == Some(*word)
    })
}

/// Returns whether a word is a goal or a variable in front of the one that counts.
fn is_goal(word: &str) -> bool {
    matches!(word, "clean" | "build" | "install") || is_assignment(word)
}

/// Returns a command without what stands in front of its program.
fn strip(words: &[String]) -> Vec<String> {
    let mut rest = words;
    while let Some((first, after)) = rest.split_first() {
        let name = first.rsplit('/').next().unwrap_or(first);
        let long = LONG_WRAPPERS.iter().find(|wrapper| {
            name == *wrapper.first().unwrap_or(&"")
                && wrapper.iter().skip(1).zip(after).all(|(wanted, word)| *wanted == word)
                && after.len() >= wrapper.len()
        });
        if is_assignment(first) || matches!(name, "(" | "{" | "!" | "then" | "do") {
            rest = after;
        } else if let Some((_, own)) = WRAPPERS.iter().find(|(wrapper, _)| *wrapper == name) {
            rest = past_options(after).get(*own..).unwrap_or_default();
        } else if let Some(wrapper) = long {
            let own = wrapper.len().saturating_sub(1);
            rest = past_options(after.get(own..).unwrap_or_default());
        } else {
            break;
        }
    }
    rest.to_vec()
}

fn past_options(words: &[String]) -> &[String] {
    let mut rest = words;
    while let Some((first, after)) = rest.split_first() {
        if !first.starts_with('-') {
            break;
        }
        let own = usize::from(WITH_WORD.contains(&&**first));
        rest = after.get(own..).unwrap_or_default();
    }
    rest
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// Splits a command line at what joins commands, quotes respected.
fn split(line: &str) -> Vec<(Vec<String>, Joint)> {
    let mut commands = Vec::new();
    let (mut words, mut word): (Vec<String>, String) = (Vec::new(), String::new());
    let mut quote: Option<char> = None;
    let mut chars = line.chars().peekable();
    let end_word = |word: &mut String, words: &mut Vec<String>| {
        if !word.is_empty() {
            words.push(core::mem::take(word));
        }
    };
    while let Some(c) = chars.next() {
        if let Some(open) = quote {
            if c == open {
                quote = None;
            } else {
                word.push(c);
            }
            continue;
        }
        let doubled = chars.peek() == Some(&c);
        let joint = match c {
            '&' if doubled => Some(Joint::And),
            '|' if doubled => Some(Joint::Or),
            '|' => Some(Joint::Pipe),
            ';' | '\n' => Some(Joint::Next),
            _ => None,
        };
        if let Some(joint) = joint {
            if matches!(joint, Joint::And | Joint::Or) {
                chars.next();
            }
            end_word(&mut word, &mut words);
            if !words.is_empty() {
                commands.push((core::mem::take(&mut words), joint));
            }
            continue;
        }
        match c {
            '\'' | '"' => quote = Some(c),
            '\\' => word.extend(chars.next().filter(|next| *next != '\n')),
            '(' | ')' => end_word(&mut word, &mut words),
            _ if c.is_whitespace() => end_word(&mut word, &mut words),
            _ => word.push(c),
        }
    }
    end_word(&mut word, &mut words);
    if !words.is_empty() {
        commands.push((words, Joint::Next));
    }
    nested(commands)
}

/// Looks into `sh -c "…"`: the line within is the one that counts.
fn nested(commands: Vec<(Vec<String>, Joint)>) -> Vec<(Vec<String>, Joint)> {
    if let [(words, _)] = commands.as_slice()
        && let [shell, option, line] = strip(words).as_slice()
        && matches!(shell.rsplit('/').next(), Some("sh" | "bash" | "dash" | "zsh"))
        && matches!(option.as_str(), "-c" | "-lc" | "-ec")
    {
        return split(&line.to_string());
    }
    commands
}
