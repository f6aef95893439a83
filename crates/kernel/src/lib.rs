//! Decides. Charts proved to halt, a pure step, the journal's format, replay.
#![no_std]
#![deny(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm
)]

extern crate alloc;

pub mod agent;
mod backoff;
pub mod chart;
pub mod code;
pub mod diagnostic;
pub mod effect;
pub mod erased;
pub mod event;
pub mod governor;
pub mod graph;
pub mod id;
pub mod job;
pub mod journal;
pub mod json;
pub mod replay;
pub mod run;
pub mod simulate;
mod step;
pub mod view;

pub use step::{Late, Rejected, Took, step};
