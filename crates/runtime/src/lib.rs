//! Acts. The room for everything that touches the world.
//!
//! The driver, the stores, models and tools are here: this is the only crate that reads a clock or
//! draws a random number. Browsers and devices are in `pointsman-webdriver`. It carries out the
//! orders of `pointsman-kernel`, and only those whose journal entry is on disk.
//!
//! All features are on by default; each brings its own dependencies: `sqlite` (journals in a
//! file), `models` (models over the network), `tools` (the shipped tools and their sandbox),
//! `mcp`, and `agents` (the host side of the shipped agents; required by `tools`).
//!
//! - [`store`]: what keeps journals: the contract, a store in one SQLite file, one in memory.
//! - [`driver`]: the loop around a run.
//! - [`engine`]: runs for programs that await.
//! - [`session`]: runs on this machine, for callers that do not await.
//! - [`scheduler`]: thousands of runs in one process; those that wait take next to nothing.
//! - [`timeline`]: a run's journal as typed items, for everything that shows a run.
//! - [`inspect`]: a run at any of its entries, and why each step went the way it did.
//! - [`observe`]: what those who watch are told.
//! - [`metrics`]: figures of the runs that a process drives, for Prometheus.
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
pub mod control;
pub mod driver;
pub mod effect;
pub mod engine;
pub mod entry;
pub mod executor;
pub mod exit;
mod gate;
pub mod inspect;
mod journal;
pub mod local_executor;
mod mailbox;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod metrics;
pub mod model;
pub mod observe;
#[cfg(feature = "agents")]
pub mod plan;
#[doc(hidden)]
pub mod plant;
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

pub use platform::host_name;
