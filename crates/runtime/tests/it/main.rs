//! What this crate promises, through its public face.

mod acp;
mod asking;
mod config;
mod converse;
mod decode;
mod driver;
mod examples;
mod fts;
mod hook;
mod mcp;
mod model;
mod remember;
mod session;
mod store;
mod tool;
mod yard;
