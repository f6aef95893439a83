//! Piped input: one text, attached to the message.

use std::{
    io::{self, IsTerminal as _, Read as _},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use pointsman_runtime::{attached::attached, config::TalkConfig};

use crate::{format, notify::note, report::Error};

/// Time after which it is said that standard input is being read.
const SOON: Duration = Duration::from_secs(2);
/// Bytes that are taken, and time until the end, where the settings say nothing.
const BYTES: u64 = 256 * 1024;
const WAIT: Duration = Duration::from_mins(10);

/// How much is read, and for how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PipedLimits {
    bytes: u64,
    wait: Duration,
}

impl PipedLimits {
    /// Returns what the settings say.
    pub(crate) fn of(config: &TalkConfig) -> Self {
        let wait = config.piped_wait.unwrap_or(WAIT);
        Self { bytes: config.piped_bytes.unwrap_or(BYTES), wait }
    }
}

/// Reads standard input to its end, unless it is a terminal. Returns nothing if it is empty.
pub(crate) fn read(limits: PipedLimits) -> Result<Option<String>, Error> {
    if io::stdin().is_terminal() {
        return Ok(None);
    }
    let (sender, read) = mpsc::sync_channel(1);
    let most = limits.bytes;
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let done = io::stdin().lock().take(most.saturating_add(1)).read_to_end(&mut bytes);
        // A reader that stopped waiting has reported why.
        drop(sender.send(done.map(|_| bytes)));
    });
    let mut got = read.recv_timeout(SOON.min(limits.wait));
    if matches!(got, Err(RecvTimeoutError::Timeout)) && limits.wait > SOON {
        note("reading standard input to its end; if you pipe nothing in, add `< /dev/null`");
        got = read.recv_timeout(limits.wait.saturating_sub(SOON));
    }
    let failed = |source| Error::Read { path: "standard input".into(), source };
    let bytes = match got {
        Ok(bytes) => bytes.map_err(failed)?,
        Err(RecvTimeoutError::Timeout) => {
            let ms = u64::try_from(limits.wait.as_millis()).unwrap_or(u64::MAX);
            return Err(Error::PipeOpen { waited: format::duration(ms) });
        }
        Err(RecvTimeoutError::Disconnected) => return Ok(None),
    };
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > most {
        return Err(Error::PipeLong { most });
    }
    let text = String::from_utf8(bytes).unwrap_or_else(|error| {
        note("standard input is not valid UTF-8: invalid bytes are read as `�`");
        String::from_utf8_lossy(error.as_bytes()).into_owned()
    });
    Ok(Some(text).filter(|text| !text.trim().is_empty()))
}

/// The first message, and its short form.
pub(crate) struct FirstMessage {
    /// A few words.
    pub(crate) goal: String,
    /// All of it.
    pub(crate) text: String,
}

impl FirstMessage {
    /// Puts what was typed before what was piped in.
    pub(crate) fn of(typed: Option<String>, piped: Option<String>) -> Option<Self> {
        // As at the prompt, blanks say nothing.
        let typed = typed.filter(|typed| !typed.trim().is_empty());
        match (typed, piped) {
            (None, None) => None,
            (Some(text), None) => Some(Self { goal: text.clone(), text }),
            (None, Some(text)) => {
                let text = text.trim_end().to_owned();
                let goal = text.trim_start().lines().next().unwrap_or_default().to_owned();
                Some(Self { goal, text })
            }
            (Some(goal), Some(piped)) => {
                let text = format!("{goal}\n\n{}", attached("standard input", &piped));
                Some(Self { goal, text })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn piped_input_follows_the_message() {
        let said = |typed: Option<&str>, piped: Option<&str>| {
            FirstMessage::of(typed.map(str::to_owned), piped.map(str::to_owned))
                .map(|it| (it.goal, it.text))
        };
        assert_eq!(said(None, None), None);
        assert_eq!(said(Some(" "), None), None);
        assert_eq!(said(Some("Hi"), None), Some(("Hi".into(), "Hi".into())));
        assert_eq!(said(None, Some("one\ntwo\n")), Some(("one".into(), "one\ntwo".into())));
        let both = "Explain\n\nContents of standard input:\n```\none\ntwo\n```\n";
        let wanted = Some(("Explain".into(), both.into()));
        assert_eq!(said(Some("Explain"), Some("one\ntwo\n")), wanted);
    }
}
