//! Whether a text really has the words of a question: whole words in any of their plain
//! forms, never the beginnings of other words.

use super::rank::{tokens, words};

/// Words of questions about anything, besides those that no search looks for.
const ASKING: [&str; 61] = [
    "about",
    "after",
    "all",
    "also",
    "any",
    "anything",
    "been",
    "before",
    "but",
    "called",
    "could",
    "define",
    "defined",
    "describe",
    "described",
    "did",
    "document",
    "documented",
    "else",
    "exactly",
    "explain",
    "explained",
    "find",
    "give",
    "had",
    "happen",
    "happens",
    "if",
    "into",
    "list",
    "may",
    "me",
    "mean",
    "means",
    "mentioned",
    "must",
    "my",
    "no",
    "not",
    "please",
    "say",
    "says",
    "should",
    "show",
    "some",
    "tell",
    "than",
    "them",
    "then",
    "there",
    "they",
    "use",
    "used",
    "using",
    "were",
    "while",
    "whose",
    "would",
    "you",
    "your",
    "yours",
];

/// Endings that make another word of the same meaning.
const ENDINGS: [&str; 12] =
    ["er", "ers", "or", "ors", "ion", "ions", "ation", "ations", "ment", "ments", "ly", "able"];

/// The words of a question that its answer has to have.
#[derive(Debug)]
pub struct QueryWords {
    words: Vec<Word>,
}

#[derive(Debug)]
struct Word {
    text: String,
    /// Whether it is a name: nothing else can be meant by it.
    named: bool,
}

impl QueryWords {
    /// Returns the words that a question is about.
    pub fn of(question: &str) -> Self {
        let mut known: Vec<String> = words(question);
        let told = |word: &String| !ASKING.contains(&word.as_str());
        // A question of such words alone is about them.
        if known.iter().any(told) {
            known.retain(told);
        }
        let proper = names(question);
        let words = known.into_iter().map(|text| Word { named: proper.contains(&text), text });
        Self { words: words.collect() }
    }

    /// Returns how much of the question a text covers, or nothing where that is too little:
    /// a name is missing, or most of the words.
    pub fn covered(&self, text: &str) -> Option<usize> {
        let tokens: Vec<String> = tokens(text).collect();
        let has = |word: &&Word| tokens.iter().any(|token| fits(&word.text, token));
        let (mut count, mut named) = (0, false);
        for word in self.words.iter().filter(has) {
            count += 1;
            named |= word.named;
        }
        let wants_one = self.words.iter().any(|word| word.named);
        // Of two words one is not enough, unless it is the name.
        let least = match self.words.len() {
            0 => return None,
            1 => 1,
            2 if named => 1,
            all => (all * 2).div_ceil(5).max(2),
        };
        (count >= least && (named || !wants_one)).then_some(count)
    }
}

/// Returns the names in a question, in lower case: acronyms, identifiers, and capitalised words
/// that do not begin a sentence.
fn names(question: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut begins = true;
    for word in question.split_whitespace() {
        for part in word.split(|c: char| !c.is_alphanumeric() && c != '_') {
            let mut letters = part.chars();
            let Some(first) = letters.next() else { continue };
            let inner = letters.any(char::is_uppercase);
            let marked = part.contains('_') || part.chars().any(|c| c.is_ascii_digit());
            if inner || marked || first.is_uppercase() && !begins {
                names.push(part.to_lowercase());
            }
            begins = false;
        }
        begins |= word.ends_with(['.', '?', '!', ':']);
    }
    names
}

/// Returns whether a word of a text is a form of another word. Of an identifier any part
/// counts.
fn fits(word: &str, token: &str) -> bool {
    is_form(word, token) || token.contains('_') && token.split('_').any(|part| is_form(word, part))
}

fn is_form(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let (one, other) = (base(one), base(other));
    let derived = |long: &str, short: &str| {
        short.chars().count() >= 4
            && long.strip_prefix(short).is_some_and(|ending| ENDINGS.contains(&ending))
    };
    one == other || derived(&one, &other) || derived(&other, &one)
}

/// Returns a word without the endings that grammar gives it.
fn base(word: &str) -> String {
    let cut = |ending: &str, least: usize| {
        word.strip_suffix(ending).filter(|rest| rest.chars().count() >= least)
    };
    let rest = if let Some(rest) = cut("ies", 3) {
        return format!("{rest}y");
    } else if let Some(rest) = ["sses", "shes", "ches", "xes", "zes"]
        .into_iter()
        .find_map(|ending| cut(ending, 2).and_then(|_| word.strip_suffix("es")))
    {
        rest
    } else if let Some(rest) = cut("s", 3).filter(|rest| !rest.ends_with(['s', 'u', 'i'])) {
        rest
    } else if let Some(rest) = cut("ing", 3).or_else(|| cut("ed", 3)) {
        undoubled(rest)
    } else {
        word
    };
    rest.strip_suffix('e').filter(|rest| rest.chars().count() >= 3).unwrap_or(rest).to_owned()
}

/// Returns `run` for `runn`, but `fill` for `fill`.
fn undoubled(word: &str) -> &str {
    let mut letters = word.chars().rev();
    match (letters.next(), letters.next()) {
        (Some(last), Some(before)) if last == before && !matches!(last, 'l' | 's' | 'z') => {
            word.strip_suffix(last).unwrap_or(word)
        }
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_forms_differ_from_words_with_the_same_start() {
        for (one, other) in [
            ("points", "point"),
            ("stop", "stopped"),
            ("making", "makes"),
            ("queries", "query"),
            ("protects", "protection"),
            ("compute", "computer"),
            ("fills", "filled"),
            ("class", "classes"),
            ("pool", "thread_pool"),
        ] {
            assert!(fits(one, other), "{one} {other}");
        }
        for (one, other) in [
            ("capital", "capitalize"),
            ("port", "portable"),
            ("general", "generalization"),
            ("class", "clasp"),
            ("is", "i"),
            ("point", "pointsman"),
        ] {
            assert!(!fits(one, other), "{one} {other}");
        }
    }

    #[test]
    fn a_name_must_be_there_and_so_must_two_words_in_five() {
        let covers = |question: &str, text: &str| QueryWords::of(question).covered(text);
        let capital = "What is the capital of Mongolia?";
        assert_eq!(covers(capital, "bytes.capitalize() returns a copy"), None);
        assert_eq!(covers(capital, "A capital letter begins a sentence"), None);
        assert_eq!(covers(&capital.to_lowercase(), "A capital letter"), None);
        assert_eq!(covers(capital, "Ulaanbaatar is the capital of Mongolia"), Some(2));
        assert_eq!(covers("What does the GIL protect?", "A_PROTECT: protected mode"), None);
        assert_eq!(covers("What does the GIL protect?", "The GIL guards objects"), Some(1));
        assert_eq!(covers("Who sets the points?", "The pointsman sets the points"), Some(2));
        assert_eq!(covers("Who sets the points?", "He sets the table"), None);
        let long = "Why does a killed run ask a model twice while nobody looks?";
        assert_eq!(covers(long, "A run that was killed asks its model again"), Some(4));
        assert_eq!(covers(long, "The model has a name"), None);
        assert_eq!(covers("", "anything"), None);
        assert_eq!(covers("Should I?", "You should"), Some(1), "it is all that is asked");
    }
}
