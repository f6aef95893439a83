//! Conversations: a prompt on a terminal, plain lines elsewhere.
//!
//! What belongs here is showing and reading. Words are posted to the run at once; when it
//! hears them is the runtime's affair.

mod busy;
mod call_list;
mod editor;
mod history;
mod pipe;
mod session;
mod slash;
mod terminal;
mod text;
mod turn;

pub(crate) use pipe::{Mode, plainly};
pub(crate) use session::{ChatSession, check};
pub(crate) use terminal::talk;
