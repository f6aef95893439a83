//! What tests with real components and evaluations both use: the program itself, servers,
//! browsers, pages, seeded draws.
#![allow(clippy::print_stderr, reason = "a command for the terminal: printing is what it does")]

pub mod pages;
pub mod postgres;
pub mod program;
pub mod random;
pub mod server;
pub mod webdriver;
