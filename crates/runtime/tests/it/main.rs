//! The runtime against real files.

mod store;
