//! Command lines: the words before the runner, and whose exit status counts.

use alloc::{string::String, vec::Vec};

use super::{
    line::{self, CommandWords, Separator},
    runners::{LONG_WRAPPERS, NO_RUN, NO_RUN_OF, PLACES, RUNNERS, SHOW, WITH_WORD, WRAPPERS},
};

/// How a command line runs tests.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum TestRun {
    /// The exit status is the runner's own.
    Decides,
    /// More commands follow the runner, and run only if it succeeds.
    Chained,
    /// The exit status is another command's, as at the end of a pipe, or the runner may
    /// not have run.
    Hidden,
    /// It may run tests or not.
    Unknown,
}

/// Shells within shells that are looked into.
const MAX_DEPTH: u8 = 4;

/// Returns how a command line runs tests, if it could.
pub(super) fn ran(line: &str, named: &[String]) -> Option<TestRun> {
    let commands = commands(line, 0);
    let is_test = |words: &[String]| {
        let own = strip(words);
        let runs = RUNNERS.iter().any(|runner| starts(&own, runner));
        (runs || is_named(words, &own, named)) && !runs_none(&own)
    };
    let Some(at) = commands.iter().position(|(words, _)| is_test(words)) else {
        let first = commands.iter().find(|(words, _)| !is_setting(words));
        let (words, joint) = first?;
        let shows = strip(words).first().is_some_and(|word| SHOW.contains(&base(word)));
        return (!shows && !words.is_empty() && *joint != Separator::Pipe)
            .then_some(TestRun::Unknown);
    };
    let (before, from) = commands.split_at_checked(at)?;
    let left_behind = from.iter().any(|(_, joint)| *joint == Separator::Background);
    let is_spare = before.last().is_some_and(|(_, joint)| *joint == Separator::Or);
    let mut after = from.iter().map(|(_, joint)| *joint).take(from.len().saturating_sub(1));
    Some(if left_behind || is_spare {
        TestRun::Hidden
    } else if from.len() == 1 {
        TestRun::Decides
    } else if after.all(|joint| joint == Separator::And) {
        TestRun::Chained
    } else {
        TestRun::Hidden
    })
}

/// Returns whether a runner's options make it run nothing.
fn runs_none(own: &[String]) -> bool {
    let Some((program, rest)) = own.split_first() else { return false };
    rest.iter().any(|word| {
        NO_RUN.contains(&&**word) || NO_RUN_OF.contains(&(base(program), word.as_str()))
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
    if base(program) != base(wanted) {
        return false;
    }
    // `cargo +nightly test`, `mvn -q test`, `make -j4 check`, `go -C x test`.
    let mut rest = rest.iter().map(String::as_str);
    more.iter().all(|word| {
        while let Some(other) = rest.next() {
            if other == *word {
                return true;
            }
            if PLACES.contains(&other) {
                rest.next();
            } else if !other.starts_with(['-', '+']) && !is_goal(other) {
                return false;
            }
        }
        false
    })
}

/// Returns whether a word is a goal or a variable before the one that counts.
fn is_goal(word: &str) -> bool {
    matches!(word, "clean" | "build" | "install") || is_assignment(word)
}

/// Returns a command without what is in front of its program.
fn strip(words: &[String]) -> Vec<String> {
    let mut rest = words;
    while let Some((first, after)) = rest.split_first() {
        let name = base(first);
        // `command -v pytest` asks where it is.
        if name == "command" && after.first().is_some_and(|it| matches!(&**it, "-v" | "-V")) {
            break;
        }
        let long = LONG_WRAPPERS.iter().find(|wrapper| {
            name == *wrapper.first().unwrap_or(&"")
                && wrapper.iter().skip(1).zip(after).all(|(wanted, word)| *wanted == word)
                && after.len() >= wrapper.len()
        });
        if is_assignment(first) || is_keyword(name) {
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

/// Returns whether a word of the shell's own has a command after it.
fn is_keyword(word: &str) -> bool {
    matches!(word, "{" | "!" | "if" | "while" | "until" | "then" | "else" | "elif" | "do")
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

/// Splits a command line, and looks into `sh -c "…"`: the line within is what counts.
fn commands(line: &str, depth: u8) -> Vec<CommandWords> {
    let mut all = Vec::new();
    for (words, joint) in line::split(line) {
        let Some(within) = within(&words).filter(|_| depth < MAX_DEPTH) else {
            all.push((words, joint));
            continue;
        };
        let mut inner = commands(&within, depth.saturating_add(1));
        // What is after the shell is after its last command.
        if let Some((_, last)) = inner.last_mut().filter(|(_, it)| *it != Separator::Background) {
            *last = joint;
        }
        all.append(&mut inner);
    }
    all
}

/// Returns the line that a shell is given to run.
fn within(words: &[String]) -> Option<String> {
    let own = strip(words);
    let [shell, option, line, ..] = own.as_slice() else { return None };
    let is_shell = matches!(base(shell), "sh" | "bash" | "dash" | "zsh");
    (is_shell && option.starts_with('-') && option.ends_with('c')).then(|| line.clone())
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
