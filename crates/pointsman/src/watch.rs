//! `pointsman watch`: runs on a full screen, live and at any of their steps.
//!
//! [`model`] is the state, changed by keys and by messages of the [`worker`], which alone reads the
//! store; [`view`] draws it; [`terminal`] is the loop around the three. Model and view are pure.

mod answer;
mod finding;
mod items;
mod keys;
mod model;
mod open_run;
mod outline;
mod runs;
mod terminal;
#[cfg(test)]
mod tests;
mod view;
mod worker;

pub(crate) use finding::contains;
pub(crate) use items::{ItemRow, level};
pub(crate) use terminal::{needs_terminal, watch};
pub(crate) use view::story::{SHOWN, pretty, said};
