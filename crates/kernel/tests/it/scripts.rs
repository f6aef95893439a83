//! Scripts, by topic: what a run does, line by line.

mod attempts;
