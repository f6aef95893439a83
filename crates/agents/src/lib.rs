//! Defines the five shipped agents and the builtin jobs. Nothing here acts.
//!
//! An agent here is a chart (`charts/*.toml`), typed data, and the pure halves of
//! its jobs: what to order, and what an answer means. It uses only the kernel's
//! public items, as your own agent would. The halves that touch the world are in
//! the runtime.
//!
//! - [`chat`], [`code`], [`research`], [`form`], [`explore`]: an agent each.
//! - [`builtin`]: general jobs over named slots, for your own charts.
//! - [`advice`], [`transcript`], [`dialogue`]: the parts of prompts.
//! - [`CHARTS`], [`AGENTS`], [`ROWS`], [`registry`]: all of them, as tables.
#![no_std]
#![cfg_attr(
    not(test),
    deny(
        clippy::arithmetic_side_effects,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::unwrap_used,
        clippy::wildcard_enum_match_arm
    )
)]

extern crate alloc;

pub mod advice;
mod answer;
pub mod builtin;
mod catalogue;
pub mod chat;
pub mod code;
pub mod dialogue;
pub mod explore;
pub mod form;
pub mod research;
#[cfg(test)]
mod testing;
pub mod transcript;

pub use catalogue::{
    AGENTS, CHARTS, CHILDREN, EXITED, FROM, PLAN_TOOL, ROWS, SIGNALLED, TOOLS, all, chart,
    registry, tools,
};

/// A fingerprint of what decides, the sources of agents and kernel and the charts: a build
/// with another one may decide otherwise.
pub const SOURCES: &str = env!("POINTSMAN_AGENTS_SOURCES");
