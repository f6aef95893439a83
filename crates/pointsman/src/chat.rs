//! Conversations: a prompt on a terminal, plain lines elsewhere.
//!
//! This module shows and reads. Messages are sent to the run at once; the runtime decides when it
//! receives them.

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
