//! What "always" can mean for a command: the same one, or all that begin with the same words.

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

/// Words after which the rest is run as a command.
const RUNNING: &[&str] = &["dlx", "eval", "exec", "run", "x"];

/// Programs that run their arguments: a pattern for them would allow anything.
const WRAPPING: &[&str] = &[
    ".", "ash", "awk", "bash", "builtin", "bunx", "busybox", "chroot", "command", "csh", "dash",
    "doas", "env", "eval", "exec", "find", "fish", "flock", "gawk", "ionice", "ksh", "lua", "nice",
    "node", "nodejs", "nohup", "npx", "parallel", "perl", "php", "pnpx", "python", "python2",
    "python3", "Rscript", "rsync", "ruby", "script", "sed", "setsid", "sh", "source", "ssh",
    "stdbuf", "strace", "su", "sudo", "tar", "tclsh", "time", "timeout", "unshare", "uvx", "watch",
    "xargs", "zsh",
];

/// Returns a pattern for commands that begin as this one does, where its first words say
/// enough and it is one command.
pub(super) fn first_words(command: &str) -> Option<String> {
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
