//! Decides: charts that are proved to halt, a pure step, the journal's format.
//!
//! The kernel is pure: no I/O, no clock, no randomness, no threads. Time, ids and model output
//! come in with an event; effects go out as data. The same chart, run and event give the same step
//! on any machine, on any day: that makes a run replayable.
//!
//! - [`chart::verify`] reads a TOML chart and proves that it halts, or says why
//!   not ([`diagnostic`]). [`chart::ChartBuilder`] does the same from Rust.
//! - [`agent::Agent`] is what an agent implements: typed data and the pure halves
//!   of its jobs, declared by [`job::JobDecl`].
//! - [`step`] applies one [`event`] to a [`run::Run`] and returns [`effect`]s.
//! - [`journal::Recorder`] steps and writes lines; [`replay`] folds them back.
//! - [`agents::Agents`] are the agents of a process; [`agents::Program`] is a chart that is
//!   bound to one of them. [`erased::AnyRun`] is a run of any agent; [`view`] describes it for people.
//! - [`simulate`] and [`graph`] show where a chart leads.
//!
//! The contract for a caller is six steps: wait for one event; `step`; look at the result; write
//! the line and flush it; start the effects; go back to one.
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
pub mod agents;
mod backoff;
pub mod body;
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
pub mod prompt;
pub mod replay;
pub mod run;
pub mod simulate;
mod step;
pub mod table;
pub mod template;
pub mod tool;
pub mod turn;
pub mod view;

pub use step::{Late, Rejected, Shortfall, StepResult, shortfall, step};
