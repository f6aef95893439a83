//! What tests with real components and evaluations both use: the program itself, servers,
//! browsers, pages, seeded draws.

pub mod pages;
pub mod program;
pub mod random;
pub mod server;
pub mod webdriver;
