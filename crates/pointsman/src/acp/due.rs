//! Which turns an editor's session still waits for.

/// The turns that are not over: the one under way, and one for each word that waits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OpenTurns {
    turns: usize,
    /// Whether the run listens: what is refused then is a word.
    listens: bool,
}

impl OpenTurns {
    /// What is waited for in a run that was there before.
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

    /// The run has refused something. Returns whether that was the last word that it had
    /// to hear.
    pub(super) const fn refused(&mut self) -> bool {
        self.listens && self.is_any() && self.less()
    }

    const fn less(&mut self) -> bool {
        self.turns = self.turns.saturating_sub(1);
        self.turns == 0
    }
}
