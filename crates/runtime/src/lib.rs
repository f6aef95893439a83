//! Acts. The room for everything that touches the world.
//!
//! The driver, the journal's stores, models and tools belong here, and nothing else: this is
//! the only crate that reads a clock or draws a random number. Browsers and devices have a room
//! of their own, `pointsman-webdriver`. It takes orders from `pointsman-kernel`, and
//! only orders whose journal entry is on disk.
//!
//! Its features are on unless a library user turns them off; each brings its own dependencies:
//! `sqlite` (journals in a file), `models` (those that are reached over the network), `tools` (those
//! that ship, with their sandbox), `mcp`, and `agents` (what the shipped agents need of a host;
//! `tools` needs it).
//!
//! - [`store`]: what keeps journals: the contract, a store in one SQLite file, one in memory.
//! - [`driver`]: the loop around a run.
//! - [`engine`]: runs for programs that await.
//! - [`session`]: runs on this machine, for callers that do not await.
//! - [`scheduler`]: thousands of runs in one process; those that wait take next to nothing.
//! - [`timeline`]: a run's journal as typed items, for everything that shows a run.
//! - [`observe`]: what those who watch are told.
//! - [`effect`], [`local_executor`]: what carries orders out, and where.
//! - [`executor`]: what carries out the tasks of an agent's own.
//! - [`tool`]: what a run may do to the world.
//! - [`attached`]: text that is put beside what a person says.
//! - [`mcp`]: tools that other programs offer.
//! - [`model`]: what providers send, decoded.
//! - [`plan`]: the phases of a task, from a file that a person wrote.
//! - [`visible`]: text as a person reads it, with nothing hidden.
//! - [`watch`]: when the machine runs short, starts are stopped for a while.
//! - [`exit`]: the exit of an ended run, as commands and editors report it.
//! - [`entry`]: what lines of a journal hold, for those who read them without a run.
//! - [`private`]: folders and files that only their owner may read.
//! - [`plural`]: numbers of things, as people write them.
//! - [`clock`]: the only calls to the clock, and the only randomness.

pub mod attached;
pub mod clock;
#[cfg(all(feature = "mcp", feature = "models", feature = "sqlite", feature = "tools"))]
pub mod config;
pub mod driver;
pub mod effect;
pub mod engine;
pub mod entry;
pub mod executor;
pub mod exit;
mod journal;
pub mod local_executor;
mod mailbox;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod model;
pub mod observe;
#[cfg(feature = "agents")]
pub mod plan;
mod platform;
pub mod plural;
pub mod private;
pub mod scheduler;
pub mod session;
pub mod stats;
pub mod store;
mod task;
pub mod timeline;
pub mod tool;
pub mod visible;
pub mod watch;
