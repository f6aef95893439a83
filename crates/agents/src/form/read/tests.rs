//! The rules of reading, one by one.

mod container;
mod groups;
mod limits;
mod names;
pub(in crate::form) mod page;
mod properties;
mod sends;
mod traps;
mod visible;
