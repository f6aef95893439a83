//! Which turns an editor's session still waits for.

/// The unfinished turns: the current one, and one for each waiting message.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OpenTurns {
    turns: usize,
    /// Whether the run awaits a message: then a rejected event is a message.
    listens: bool,
}

impl OpenTurns {
    /// The open turns of an existing run.
    pub(super) const fn of(turns: usize, listens: bool) -> Self {
        Self { turns, listens }
    }

    /// Returns whether there is anything.
    pub(super) const fn is_any(self) -> bool {
        self.turns > 0
    }

    /// Something is said.
    pub(super) const fn say(&mut self) {
        self.turns = self.turns.saturating_add(1);
    }

    /// The run has left the state that it was in.
    pub(super) const fn moved(&mut self) {
        self.listens = false;
    }

    /// The run listens: a turn is over, if there was one. Returns whether that was the last.
    pub(super) const fn listens(&mut self) -> bool {
        self.listens = true;
        self.less()
    }

    /// The run has rejected something. Returns whether that was the last message to receive.
    pub(super) const fn refused(&mut self) -> bool {
        self.listens && self.is_any() && self.less()
    }

    const fn less(&mut self) -> bool {
        self.turns = self.turns.saturating_sub(1);
        self.turns == 0
    }
}
