//! Acts. The room for everything that touches the world.
//!
//! The driver, the journal's stores, models, tools, the browser and the device
//! belong here, and nothing else: this is the only library crate that awaits, reads
//! a clock or draws a random number. It takes orders from `pointsman-kernel`, and
//! only orders whose journal entry is on disk.
//!
//! So far there is [`store`]: journals in one SQLite file.

pub mod store;
