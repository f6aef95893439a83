//! Acts. The room for everything that touches the world.
//!
//! The driver, the journal's stores, models, tools, the browser and the device
//! belong here, and nothing else: this is the only library crate that awaits, reads
//! a clock or draws a random number. It takes orders from `pointsman-kernel`, and
//! only orders whose journal entry is on disk.
//!
//! - [`store`]: journals in one SQLite file.
//! - [`driver`]: the loop around a run.
//! - [`session`]: runs on this machine, for callers that do not await.
//! - [`yard`]: thousands of runs in one process; those that wait take next to nothing.
//! - [`observe`]: what those who watch are told.
//! - [`perform`], [`host`]: what carries orders out, and where.
//! - [`executor`]: what carries out the tasks of an agent's own.
//! - [`tool`]: what a run may do to the world.
//! - [`browser`]: a real browser, and what a person does with one.
//! - [`device`]: a device that an app runs on, or a recording of one.
//! - [`attached`]: text that is put beside what a person says.
//! - [`acp`]: agents served to editors.
//! - [`mcp`]: tools that other programs offer.
//! - [`model`]: what providers send, decoded.
//! - [`plan`]: the phases of a task, from a file that a person wrote.
//! - [`profile`]: what a person has to give, from a file that they wrote.
//! - [`visible`]: text as a person reads it, with nothing hidden.
//! - [`watch`]: when the machine runs short, starts are stopped for a while.
//! - [`private`]: folders and files that only their owner may read.
//! - [`clock`]: the only calls to the clock, and the only randomness.

pub mod acp;
pub mod attached;
pub mod browser;
pub mod clock;
pub mod config;
pub mod device;
pub mod driver;
mod entry;
pub mod executor;
pub mod host;
pub mod mcp;
pub mod model;
pub mod observe;
pub mod perform;
pub mod plan;
mod platform;
mod plural;
pub mod private;
pub mod profile;
pub mod reproduce;
pub mod session;
pub mod stats;
pub mod store;
pub mod tool;
pub mod visible;
pub mod watch;
pub mod yard;
