//! Walks the tokens of a source file and picks the strings that users read.

use proc_macro2::{Delimiter, Group, LexError, Literal, TokenStream, TokenTree};

use crate::literal;

/// Macros and methods whose texts are for developers: they state invariants.
const INVARIANTS: &[&str] = &[
    "assert",
    "assert_eq",
    "assert_ne",
    "cfg",
    "concat",
    "debug_assert",
    "debug_assert_eq",
    "env",
    "expect",
    "expect_err",
    "include_str",
    "matches",
    "panic",
    "unreachable",
];
/// Methods whose argument is a pattern or a key, not prose.
const PATTERNS: &[&str] = &[
    "contains",
    "ends_with",
    "find",
    "get",
    "split",
    "split_once",
    "starts_with",
    "strip_prefix",
    "strip_suffix",
    "trim_end_matches",
    "trim_start_matches",
];
/// Macros that write to the log.
const LOGS: &[&str] = &["debug", "error", "info", "trace", "warn"];
/// How the texts of SQL, scripts and option lists begin.
const CODE: &[&str] = &[
    "-", "const ", "return ", "trap ", "WHERE ", "ALTER ", "BEGIN", "CREATE ", "DELETE ", "DROP ",
    "INSERT ", "PRAGMA ", "SELECT ", "UPDATE ", "VACUUM", "WITH ", "ATTACH ", "DETACH ", "SET ",
];
/// Derives whose doc comments become help.
const CLAP: &[&str] = &["Args", "Parser", "Subcommand", "ValueEnum"];

/// What a string stands in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Within {
    /// The doc comment or an attribute of a clap item.
    Help,
    /// The message of an error type.
    Error,
    /// A macro that writes to the log.
    Log,
    /// Other code.
    Code,
}

/// A string in a source file.
pub(crate) struct Found {
    pub(crate) within: Within,
    pub(crate) function: String,
    pub(crate) line: usize,
    pub(crate) text: String,
}

/// Returns the strings of a source file that users read.
pub(crate) fn strings(source: &str) -> Result<Vec<Found>, LexError> {
    let tokens: TokenStream = source.parse()?;
    let mut walk = Walk::default();
    walk.tokens(tokens, &Scope::default());
    Ok(walk.found)
}

#[derive(Clone, Default)]
struct Scope {
    within: Option<Within>,
    function: String,
    /// Whether doc comments here are help.
    is_clap: bool,
}

#[derive(Default)]
struct Walk {
    found: Vec<Found>,
}

/// Lines of one doc comment, and where it begins.
#[derive(Default)]
struct Docs {
    line: usize,
    text: String,
}

impl Walk {
    fn tokens(&mut self, tokens: TokenStream, scope: &Scope) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut docs = Docs::default();
        // The attributes of the current item.
        let (mut is_test, mut is_clap) = (false, false);
        let mut function = scope.function.clone();
        for (index, token) in tokens.iter().enumerate() {
            let at = |back: usize| index.checked_sub(back).and_then(|at| tokens.get(at));
            let before = at(1);
            match token {
                TokenTree::Group(group) if is_attribute(group, before, at(2)) => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    match name(inner.first()).as_str() {
                        "doc" => docs.add(inner.get(2)),
                        "cfg" if group.to_string().contains("(test)") => is_test = true,
                        "test" => is_test = true,
                        "derive" => is_clap |= CLAP.iter().any(|it| has_word(group, it)),
                        attribute => self.attribute(attribute, group, scope),
                    }
                }
                TokenTree::Group(group) => {
                    if group.delimiter() == Delimiter::Brace && (is_clap || scope.is_clap) {
                        self.help(&mut docs);
                    }
                    if !is_test {
                        let macro_name = is_punct(before, '!').then(|| name(at(2)));
                        let called = macro_name.clone().unwrap_or_else(|| name(before));
                        self.group(
                            group,
                            &called,
                            macro_name.is_some(),
                            &Scope {
                                within: scope.within,
                                function: function.clone(),
                                is_clap: is_clap
                                    || (scope.is_clap && group.delimiter() == Delimiter::Brace),
                            },
                        );
                    }
                    if group.delimiter() == Delimiter::Brace {
                        (is_test, is_clap) = (false, false);
                        docs = Docs::default();
                        function.clone_from(&scope.function);
                    }
                }
                TokenTree::Ident(word) if word == "fn" => {
                    function = name(tokens.get(index + 1));
                }
                TokenTree::Punct(mark) => {
                    let ends = mark.as_char() == ';' || (mark.as_char() == ',' && scope.is_clap);
                    if ends {
                        if scope.is_clap || is_clap {
                            self.help(&mut docs);
                        }
                        (is_test, is_clap) = (false, false);
                        docs = Docs::default();
                    }
                }
                TokenTree::Literal(literal) if !is_test => self.literal(literal, scope),
                TokenTree::Ident(_) | TokenTree::Literal(_) => {}
            }
        }
        if scope.is_clap {
            self.help(&mut docs);
        }
    }

    fn group(&mut self, group: &Group, called: &str, is_macro: bool, scope: &Scope) {
        let is_call = group.delimiter() == Delimiter::Parenthesis;
        if INVARIANTS.contains(&called) || (is_call && PATTERNS.contains(&called)) {
            return;
        }
        let mut scope = scope.clone();
        if is_macro && LOGS.contains(&called) {
            scope.within = Some(Within::Log);
        }
        self.tokens(group.stream(), &scope);
    }

    fn attribute(&mut self, name: &str, group: &Group, scope: &Scope) {
        let within = match name {
            "error" => Within::Error,
            "arg" | "command" | "value" => Within::Help,
            _ => return,
        };
        self.tokens(group.stream(), &Scope { within: Some(within), ..scope.clone() });
    }

    fn help(&mut self, docs: &mut Docs) {
        let docs = std::mem::take(docs);
        if !docs.text.is_empty() {
            let text = docs.text.trim().to_owned();
            let within = Within::Help;
            self.found.push(Found { within, function: String::new(), line: docs.line, text });
        }
    }

    fn literal(&mut self, literal: &Literal, scope: &Scope) {
        let Some(text) = literal::text(&literal.to_string()) else { return };
        let within = scope.within.unwrap_or(Within::Code);
        let is_prose = match within {
            // A message may be as short as `{0}: denied`.
            Within::Error => text.contains(|it: char| it.is_ascii_lowercase()),
            Within::Help | Within::Log | Within::Code => is_prose(&text),
        };
        if is_prose {
            let line = literal.span().start().line;
            self.found.push(Found { within, function: scope.function.clone(), line, text });
        }
    }
}

impl Docs {
    fn add(&mut self, line: Option<&TokenTree>) {
        let Some(TokenTree::Literal(literal)) = line else { return };
        if self.text.is_empty() {
            self.line = literal.span().start().line;
        }
        let text = literal::text(&literal.to_string()).unwrap_or_default();
        self.text.push_str(text.trim());
        self.text.push('\n');
    }
}

/// Returns whether a group is an attribute, `#[…]` or `#![…]`, and not a macro such as `vec![…]`.
fn is_attribute(group: &Group, before: Option<&TokenTree>, earlier: Option<&TokenTree>) -> bool {
    let is_inner = is_punct(before, '!') && is_punct(earlier, '#');
    group.delimiter() == Delimiter::Bracket && (is_punct(before, '#') || is_inner)
}

fn is_punct(token: Option<&TokenTree>, mark: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == mark)
}

fn name(token: Option<&TokenTree>) -> String {
    match token {
        Some(TokenTree::Ident(word)) => word.to_string(),
        _ => String::new(),
    }
}

fn has_word(group: &Group, word: &str) -> bool {
    group.stream().into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == word,
        TokenTree::Group(inner) => has_word(&inner, word),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// Returns whether a text is prose: two words in a row, and neither SQL nor markup.
fn is_prose(text: &str) -> bool {
    let start = text.trim_start();
    let is_code = CODE.iter().any(|it| start.starts_with(it))
        || [" AS (", "SELECT ", " = ?"].iter().any(|it| text.contains(it))
        // A style sheet.
        || start.starts_with(['.', ':']) && text.contains(['{', '.']);
    // A message may begin with a value, and have two parts: `{run} has ended; start another`.
    let is_markup = start.starts_with('<') || start.starts_with('{') && start.contains('<');
    if is_code || is_markup {
        return false;
    }
    let is_word = |word: &str| {
        let word = word.trim_matches(|it: char| !it.is_alphabetic());
        word.len() > 1
            && word.chars().all(|it| it.is_alphabetic() || matches!(it, '\'' | '-' | '.'))
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    words.windows(2).any(|pair| pair.iter().all(|word| is_word(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_only_strings_that_users_read() {
        let source = r##"
            //! A module's own doc comment.

            /// Not help: no derive of clap.
            #[derive(Debug)]
            struct Plain {
                /// Nor is this.
                field: u8,
            }

            /// Shows a
            /// run.
            #[derive(Debug, Args)]
            struct Show {
                /// The run.
                #[arg(long, help = "its own help")]
                run: String,
                /// As JSON.
                json: bool,
            }

            #[derive(Debug, Error)]
            enum Error {
                #[error("denied")]
                Denied,
            }

            fn hint(run: &Run) -> String {
                debug!("a run begins");
                let row = query("SELECT id FROM runs WHERE id");
                let key = value["key"].expect("it was checked before");
                let why = format!("{run} has ended; start another");
                let rows = vec![line("a row of a list")];
                format!("use `pointsman show {run}` instead")
            }

            #[cfg(test)]
            mod tests {
                const SKIPPED: &str = "only a test has this";
            }
        "##;
        let found = strings(source).expect("the tokens are Rust");
        let found: Vec<_> = found.iter().map(|it| (it.within, it.line, it.text.as_str())).collect();
        assert_eq!(
            found,
            [
                (Within::Help, 11, "Shows a\nrun."),
                (Within::Help, 16, "its own help"),
                (Within::Help, 15, "The run."),
                (Within::Help, 18, "As JSON."),
                (Within::Error, 24, "denied"),
                (Within::Log, 29, "a run begins"),
                (Within::Code, 32, "{run} has ended; start another"),
                (Within::Code, 33, "a row of a list"),
                (Within::Code, 34, "use `pointsman show {run}` instead"),
            ]
        );
    }
}
