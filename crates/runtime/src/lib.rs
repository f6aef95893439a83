//! Runs agents: everything that touches the world is here.
//!
//! It has the driver, the stores, models and tools. It carries out the orders of
//! `pointsman-kernel`, and only those whose journal entry is on disk. Browsers and devices are in
//! `pointsman-webdriver`.
//!
//! All features are on by default; each brings its own dependencies: `sqlite` (journals in a
//! file), `models` (models over the network), `tools` (the shipped tools and their sandbox),
//! `mcp`, and `agents` (the host side of the shipped agents; required by `tools`).
//!
//! - [`store`]: where journals are kept: the contract, a store in one SQLite file, one in memory.
//! - [`driver`]: the loop around a run.
//! - [`engine`]: runs for async programs.
//! - [`session`]: runs on this machine, for blocking callers.
//! - [`scheduler`]: thousands of runs in one process; waiting ones cost almost nothing.
//! - [`timeline`]: a run's journal as typed items, for everything that shows a run.
//! - [`inspect`]: a run at any of its entries, and why each step went the way it did.
//! - [`observe`]: notices for observers of a run.
//! - [`metrics`]: figures of the runs that a process drives, for Prometheus.
//! - [`effect`], [`local_executor`]: how and where orders are carried out.
//! - [`executor`]: executors of an agent's own tasks.
//! - [`tool`]: the tools of a run, their sandbox and their limits.
//! - [`attached`]: text that is attached to a message.
//! - [`mcp`]: tools of MCP servers.
//! - [`model`]: calls of models, and their decoded replies.
//! - [`plan`]: the phases of a task, from a file that a person wrote.
//! - [`visible`]: text as a person reads it, with nothing hidden.
//! - [`watch`]: pauses runs when the machine is short of memory or disk space.
//! - [`exit`]: the exit of an ended run, as commands and editors report it.
//! - [`entry`]: the content of journal lines, for readers without a run.
//! - [`private`]: folders and files that only their owner may read.
//! - [`plural`]: counts with their nouns: 1 file, 2 files.
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
