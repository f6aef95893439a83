//! The shared parts of conversational agents: their setup, how a conversation is shown to a model,
//! and how it is shortened.
//!
//! - [`Setup`]: the configuration that they have in common.
//! - [`Context`]: how much fits, and which question to the model is in progress.

mod condense;
mod context;
mod render;
mod setup;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use tests::well_formed;
pub(crate) use {
    condense::shorten as bound,
    context::{ReplyOutcome, SUMMARY},
    render::{advice, first_line, instructions, messages},
};
pub use {
    context::{AttemptQuestions, Context},
    setup::{ConversationLimits, Instruction, Setup},
};
