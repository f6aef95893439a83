//! A list of words as one line for a shell that reads nothing into any of them.

use alloc::{
    borrow::Cow,
    string::{String, ToString},
    vec::Vec,
};

/// Names that a shell takes for its own. Some of them read their arguments as shell
/// text, so the program of that name is meant and `env` finds it.
const SHELLS_OWN: &str = "\
    ! . : [ [[ ]] alias bg bind break builtin caller case cd command compgen complete \
    compopt continue coproc declare dirs disown do done echo elif else enable esac eval exec \
    exit export false fc fg fi for function getopts hash help history if in jobs kill let \
    local logout mapfile popd printf pushd pwd read readarray readonly return select set \
    shift shopt source suspend test then time times trap true type typeset ulimit umask \
    unalias unset until wait while { }";

/// Returns the line. Plain words stay as they are, so that a rule such as `cargo *`
/// fits the call. No words at all are a program without a name: it is not found.
pub(super) fn line(words: &[String]) -> String {
    let Some((program, arguments)) = words.split_first() else { return quoted("").to_string() };
    let own = SHELLS_OWN.split(' ').any(|name| name == program);
    let env = own.then_some(Cow::Borrowed("env"));
    // Before a program, `A=b` would set a variable.
    let program = if program.contains('=') { in_quotes(program).into() } else { quoted(program) };
    let all = env.into_iter().chain([program]).chain(arguments.iter().map(|word| quoted(word)));
    all.collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "%+,-./:=@_".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.into() } else { in_quotes(word).into() }
}

/// Between single quotes a shell reads nothing; a quote itself is written outside.
fn in_quotes(word: &str) -> String {
    ["'", &word.replace('\'', r"'\''"), "'"].concat()
}

#[cfg(test)]
mod tests {
    use alloc::{string::String, vec::Vec};

    use super::line;

    fn of(words: &[&str]) -> String {
        line(&words.iter().map(|word| String::from(*word)).collect::<Vec<_>>())
    }

    #[test]
    fn a_shell_reads_nothing_into_the_words() {
        for (words, wanted) in [
            (&["cargo", "test", "--lib=a/b.rs"][..], "cargo test --lib=a/b.rs"),
            (&["ls", "a b", "", "-n"], "ls 'a b' '' -n"),
            (&["cat", "it's; $(id) `id` \\ \"x\"\n~*"], "cat 'it'\\''s; $(id) `id` \\ \"x\"\n~*'"),
            (&["A=b", "c"], "'A=b' c"),
            (&["my tool"], "'my tool'"),
            (&["eval", "id"], "env eval id"),
            (&["[", "-v", "a[$(id)]", "]"], "env '[' -v 'a[$(id)]' ']'"),
            (&["ls", "eval", "größe"], "ls eval 'größe'"),
            (&[], "''"),
        ] {
            assert_eq!(of(words), wanted);
        }
    }
}
