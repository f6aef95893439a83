//! Acts. The room for everything that touches the world.
//!
//! The driver, the journal's stores, models, tools, the browser and the device
//! belong here, and nothing else: this is the only library crate that awaits, reads
//! a clock or draws a random number. It takes orders from `pointsman-kernel`, and
//! only orders whose journal entry is on disk.
//!
//! The room is empty so far. What is decided about it: an event is stepped by the
//! kernel, its entry is appended and flushed, and only then do its effects start;
//! their answers come back as events. `examples/foreign_loop.rs` of the kernel
//! drives a run in exactly that order without this crate.
