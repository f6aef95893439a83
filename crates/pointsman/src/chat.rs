//! Conversations: a prompt on a terminal, plain lines elsewhere.
//!
//! What belongs here is showing and reading. Words are posted to the run at once; when it
//! hears them is the runtime's affair.

mod busy;
mod calling;
mod editor;
mod past;
mod pipe;
mod room;
mod slash;
mod terminal;
mod text;
mod turn;

pub(crate) use pipe::{Mode, plainly};
pub(crate) use room::{Room, check};
pub(crate) use terminal::talk;
