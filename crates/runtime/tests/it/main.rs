//! What this crate promises, through its public face.
#![expect(clippy::disallowed_methods, reason = "a test waits with a limit of its own")]

mod acp;
mod appium;
mod asking;
mod attend;
mod browser;
mod children;
mod config;
mod converse;
mod corpus;
mod decode;
mod driver;
mod examples;
mod forms;
mod fts;
mod letters;
mod mcp;
mod model;
mod pausing;
mod remember;
mod session;
mod store;
mod tool;
mod yard;
