//! What tests need from outside, where things are, and children that end with us.

pub mod components;
pub mod place;
pub mod process;
