//! Scripts, by topic: what a run does, line by line.

mod admission;
mod asking;
mod attempts;
mod budgets;
mod cancelling;
mod charges;
mod contract;
mod fan_out;
mod governing;
mod interrupting;
mod pausing;
mod time;
