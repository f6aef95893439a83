//! Defines. Five charts, a sixth set of jobs for users' own, and their pure halves.
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

mod answer;
pub mod builtin;
pub mod chat;
pub mod code;
pub mod explore;
pub mod form;
pub mod research;
#[cfg(test)]
mod testing;
pub mod transcript;
