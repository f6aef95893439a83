//! The prompt: a line that can be edited, with history and more than one line.

use std::{
    borrow::Cow,
    sync::{Arc, atomic::AtomicBool},
};

use crossterm::event::{KeyCode, KeyModifiers};
use pointsman_runtime::private;
use reedline::{
    EditCommand, Emacs, FileBackedHistory, Prompt, PromptEditMode, PromptHistorySearch, Reedline,
    ReedlineEvent, Signal, ValidationResult, Validator, default_emacs_keybindings,
};

use crate::{
    paths::Globals,
    report::{Error, coloured},
    screen,
};

/// Lines that are remembered.
const REMEMBERED: usize = 1_000;

/// What a person did at the prompt.
pub(super) enum EditorInput {
    /// A line, or more of them.
    Line(String),
    /// They want to leave.
    Leave,
    /// Something happened to the run; this was typed so far.
    Stirred(String),
}

/// The prompt.
pub(super) struct Editor(Reedline);

impl Editor {
    /// Makes a prompt. Without a place for its history it remembers this session alone.
    pub(super) fn new() -> Self {
        let mut keys = default_emacs_keybindings();
        let newline = ReedlineEvent::Edit(vec![EditCommand::InsertNewline]);
        keys.add_binding(KeyModifiers::ALT, KeyCode::Enter, newline.clone());
        keys.add_binding(KeyModifiers::SHIFT, KeyCode::Enter, newline);
        // Enter comes so if it was pressed while the terminal read lines: see `Screen::next`.
        keys.add_binding(KeyModifiers::CONTROL, KeyCode::Char('j'), ReedlineEvent::Enter);
        let suspend = ReedlineEvent::ExecuteHostCommand(String::new());
        keys.add_binding(KeyModifiers::CONTROL, KeyCode::Char('z'), suspend);
        let mut line = Reedline::create()
            .with_edit_mode(Box::new(Emacs::new(keys)))
            .with_validator(Box::new(Backslash))
            .with_ansi_colors(coloured())
            .use_bracketed_paste(true);
        let history = Globals::history().ok().and_then(|file| {
            private::folder(file.parent()?).and_then(|()| private::file(&file)).ok()?;
            FileBackedHistory::with_file(REMEMBERED, file).ok()
        });
        if let Some(history) = history {
            line = line.with_history(Box::new(history));
        }
        Self(line)
    }

    /// Waits for a line, beginning with the text typed before. It also returns when it is notified
    /// that something happened.
    pub(super) fn read(
        self,
        unfinished: &str,
        stirred: &Arc<AtomicBool>,
    ) -> Result<(Self, EditorInput), Error> {
        let mut line = self.0.with_break_signal(Arc::clone(stirred));
        let typed = vec![EditCommand::Clear, EditCommand::InsertString(unfinished.into())];
        line.run_edit_commands(&typed);
        let mut read = line.read_line(&Sign);
        while matches!(read, Ok(Signal::HostCommand(_))) {
            // The line that is being typed is still there afterwards.
            drop(screen::stop());
            read = line.read_line(&Sign);
        }
        let typed = match read {
            Ok(Signal::Success(line)) => EditorInput::Line(line.replace("\\\n", "\n")),
            Ok(Signal::ExternalBreak(line)) => EditorInput::Stirred(line),
            Ok(_) => EditorInput::Leave,
            Err(source) => {
                let source = std::io::Error::other(source);
                return Err(Error::Read { path: "the terminal".into(), source });
            }
        };
        // A history that cannot be written does not matter.
        drop(line.sync_history());
        Ok((Self(line), typed))
    }
}

/// A line that ends with a backslash continues.
struct Backslash;

impl Validator for Backslash {
    fn validate(&self, line: &str) -> ValidationResult {
        if line.ends_with('\\') { ValidationResult::Incomplete } else { ValidationResult::Complete }
    }
}

/// The prompt before a line.
struct Sign;

impl Prompt for Sign {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        "".into()
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        "".into()
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        "› ".into()
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        "· ".into()
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        format!("search `{}`: ", search.term).into()
    }
}
