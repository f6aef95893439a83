//! Words that readers stumbled over, in what users read: the strings that `cargo xtask words`
//! prints, and the documents.

use std::fs;

use crate::tidy::root;

/// A phrase, and what to write instead. Words of a phrase may be on two lines; `*` at its end
/// stands for any ending.
const PHRASES: &[(&str, &str)] = &[
    // Sentences that were reworded once.
    ("nothing but looking", "read-only tools run without asking; everything else prompts"),
    ("only looking is", "only read-only tools run without asking"),
    ("in good order", "cleanly"),
    ("waiting times between attempts", "seed for retry jitter"),
    ("an object per line for", "print events as JSON Lines"),
    ("fits no", "matches no"),
    ("as without an answer", "as if denied"),
    ("and this conversation elsewhere", "belongs to FOLDER"),
    ("runs are to go", "specify which runs to remove"),
    ("nothing about what to log", "invalid log filter"),
    ("when none was pressed", "waiting until you stop typing"),
    ("the program broke off", "internal error (panic)"),
    ("lost what was written", "is missing committed entries"),
    ("that cannot be meant", "invalid"),
    ("lets only that go on", "resumes only"),
    ("any beginning that only", "a unique prefix"),
    ("a call run that a run asks about", "approve a pending tool call"),
    ("shares another's entries", "fork a run at an entry"),
    ("00 of money", "cost"),
    ("at the very worst", "worst case"),
    ("does not stand in", "was not found in"),
    ("is no duration", "is not a valid duration"),
    ("no way leads to", "is unreachable"),
    ("speaks of", "matches, names or covers"),
    ("speak of", "match, name or cover"),
    ("what is written above does not count", "discarded"),
    ("before its end was marked", "the stream ended early"),
    ("one of this protocol", "not a valid reply"),
    ("asks nothing", "has no open question"),
    ("look at its name", "check the path"),
    ("the run that goes on", "on resume, the run's own"),
    ("is gone", "has exited, is lost or is missing"),
    ("are gone", "have exited, are lost or are missing"),
    ("any more", "no longer"),
    ("bring it about", "cause it"),
    ("bring about", "cause"),
    ("brings about", "causes"),
    ("went well", "succeeded"),
    ("so many", "this many, or at most N"),
    ("of others", "other, other people's"),
    ("those who", "observers, readers, people who"),
    ("summed up", "summarised"),
    ("comes to nothing", "has no effect"),
    ("came to nothing", "had no effect"),
    ("counts for nothing", "is ignored"),
    ("what became of", "the result of"),
    ("for ever", "forever"),
    ("as you like", "at your option"),
    ("is told", "is reported, learns"),
    ("are told", "are reported, learn"),
    ("was told", "was reported, learnt"),
    ("and told", "and reported"),
    // Words for which the field has its own.
    ("gone on with", "resume"),
    ("go on with", "resume or continue with"),
    ("goes on with", "resumes or continues with"),
    ("going on with", "resuming"),
    ("let go of", "detach, release"),
    ("lets go of", "detaches, releases"),
    ("under way", "in progress"),
    ("for good", "permanently"),
    ("stand still", "stop changing"),
    ("stands still", "stops changing"),
    ("unasked", "without asking"),
    ("whoever", "the process that, anyone who"),
    ("whatever waits", "pending runs"),
    ("what is nested", "nested values"),
    ("nobody", "no one, no process, or the active voice"),
    ("somebody", "another process, someone"),
    ("anybody", "anyone"),
    ("is no address", "is not a valid address"),
    ("is no conversation", "is not a valid conversation"),
    ("is no entry", "is not a valid entry"),
    ("is no file", "is not a valid file"),
    ("is no folder", "is not a valid folder"),
    ("is no json", "is not a valid JSON"),
    ("is no list", "is not a valid list"),
    ("is no name", "is not a valid name"),
    ("is no pattern", "is not a valid pattern"),
    ("is no table", "is not a valid table"),
    ("is no text", "is not a valid text"),
    ("is no url", "is not a valid URL"),
    ("letter for", "message for"),
    ("letters of", "messages of"),
    ("the yard", "the supervisor"),
    ("the errand*", "the effect"),
    ("a hold on", "a lease on"),
    ("the post", "the mailbox"),
    ("its seal", "its checksum"),
    ("the seals", "the checksums"),
    ("mend", "correct, fix"),
    ("at hand", "available"),
    ("begin anew", "start over"),
    ("made anew", "recreated"),
    ("to the letter", "exactly"),
    ("goes on as", "continues as"),
];

/// Places that keep a phrase: journals and digests hold these strings, or the word means
/// something else. The list may only shrink.
const KEPT: &[(&str, &str, usize)] = &[
    ("crates/kernel/src/governor/permission.rs", "nobody", 1),
    ("crates/kernel/src/step/recovery.rs", "nobody", 1),
    ("crates/kernel/src/step/recovery.rs", "under way", 1),
    ("crates/kernel/src/step/timers.rs", "nobody", 1),
    // The words of a recorded conversation.
    ("docs/chat.md", "mend", 1),
];

/// Documents that users read. `docs/seeds.md` quotes other projects, and the history stays.
fn documents() -> Vec<String> {
    let mut found: Vec<String> =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(str::to_owned).into();
    for entry in fs::read_dir(root().join("docs")).expect("docs can be listed") {
        let path = entry.expect("docs can be listed").path();
        if path.extension().is_some_and(|end| end == "md") && !path.ends_with("seeds.md") {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            found.push(format!("docs/{name}"));
        }
    }
    let beside =
        ["crates/pointsman/assets/agent.toml", "docs/openapi.json", "docs/chart.schema.json"];
    found.extend(beside.map(str::to_owned));
    found
}

/// Returns the words of a text, each with its line, from 1.
fn words(text: &str) -> Vec<(usize, String)> {
    let words = (1..).zip(text.lines()).flat_map(|(line, text)| {
        let words = text.split(|it: char| !it.is_alphanumeric() && !matches!(it, '\'' | '`'));
        words.filter(|it| !it.is_empty()).map(move |word| (line, word.to_lowercase()))
    });
    words.collect()
}

/// Returns the lines in which a phrase begins.
fn lines_with(words: &[(usize, String)], phrase: &str) -> Vec<usize> {
    let (phrase, open) = phrase.strip_suffix('*').map_or((phrase, false), |it| (it, true));
    let wanted: Vec<&str> = phrase.split(' ').collect();
    let matches = |(at, (_, word)): (usize, &(usize, String))| {
        let last = at + 1 == wanted.len();
        let wanted = wanted.get(at).copied().unwrap_or_default();
        if last && open { word.starts_with(wanted) } else { word == wanted }
    };
    let windows = words.windows(wanted.len());
    windows
        .filter(|window| window.iter().enumerate().all(matches))
        .filter_map(|window| window.first().map(|(line, _)| *line))
        .collect()
}

#[test]
fn users_read_plain_words() {
    let mut texts: Vec<(String, usize, String)> = xtask_words::collect(&root())
        .expect("sources can be read")
        .into_iter()
        .map(|text| (text.file, text.line, text.text))
        .collect();
    assert!(texts.len() > 1_000, "the strings were not found");
    for name in documents() {
        let text = fs::read_to_string(root().join(&name)).expect("the file exists and is UTF-8");
        texts.push((name, 1, text));
    }
    let (mut wrong, mut kept) = (Vec::new(), vec![0; KEPT.len()]);
    for (file, first, text) in &texts {
        let words = words(text);
        for (phrase, better) in PHRASES {
            for line in lines_with(&words, phrase) {
                let known = KEPT.iter().position(|it| it.0 == file && it.1 == *phrase);
                if let Some(count) = known.and_then(|at| kept.get_mut(at)) {
                    *count += 1;
                } else {
                    let line = first + line - 1;
                    wrong.push(format!("{file}:{line}: `{phrase}`; better: {better}"));
                }
            }
        }
    }
    for ((file, phrase, most), count) in KEPT.iter().zip(kept) {
        if count != *most {
            wrong.push(format!("{file} has `{phrase}` {count} times; correct the {most} here"));
        }
    }
    assert!(wrong.is_empty(), "readers stumble over these:\n{}", wrong.join("\n"));
}

#[test]
fn phrases_are_found_across_lines_and_only_as_whole_words() {
    let found = |text: &str, phrase: &str| lines_with(&words(text), phrase);
    assert_eq!(found("It is still under\nway, and\nUNDER WAY.", "under way"), [1, 3]);
    assert_eq!(found("understand ways", "under way"), [0; 0]);
    assert_eq!(found("the errands", "the errand*"), [1]);
}
