//! Forms in a real browser, filled by the real program: what the site received, what people read,
//! and where each run ends.

mod answers;
mod boundary;
mod changes;
mod deaths;
mod hostile;
mod kinds;
mod questions;
mod reports;
mod rig;
mod safety;
mod sending;
