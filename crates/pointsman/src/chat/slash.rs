//! Slash commands at the prompt.

/// A command of the prompt.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Slash {
    Help,
    New,
    Resume(Option<String>),
    Tools,
    Plan,
    Cancel,
    Quit,
    Unknown(String),
}

/// What each of them does.
pub(super) const HELP: [(&str, &str); 7] = [
    ("/help", "show this list"),
    ("/new", "start a new conversation"),
    ("/resume [RUN]", "resume a conversation [default: choose one of this folder]"),
    ("/tools", "list the tools"),
    ("/plan", "show the plan and the state of each phase"),
    ("/cancel", "cancel the turn, like Ctrl-C"),
    ("/quit", "leave, like Ctrl-D; the conversation is kept"),
];

impl Slash {
    /// Reads a line; nothing if it is a message. A path is one.
    pub(super) fn read(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let name = words.next()?.strip_prefix('/')?;
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
        if !is_name || line.trim().contains('\n') {
            return None;
        }
        Some(match name {
            "help" => Self::Help,
            "new" => Self::New,
            "resume" => Self::Resume(words.next().map(str::to_owned)),
            "tools" => Self::Tools,
            "plan" => Self::Plan,
            "cancel" => Self::Cancel,
            "quit" | "exit" => Self::Quit,
            other => Self::Unknown(other.to_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_commands_are_commands() {
        assert_eq!(Slash::read("/resume 0abc"), Some(Slash::Resume(Some("0abc".into()))));
        assert_eq!(Slash::read(" /quit "), Some(Slash::Quit));
        assert_eq!(Slash::read("/halp"), Some(Slash::Unknown("halp".into())));
        for message in ["/etc/hosts is what?", "hello", "/", "a /quit", "/new\nline"] {
            assert_eq!(Slash::read(message), None, "{message}");
        }
    }
}
