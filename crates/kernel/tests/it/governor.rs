//! The governor, seen through the step: what it rules, what it lets pass, and why.

mod caught;
mod clerk;
mod desk;
mod permissions;
mod properties;
mod rules;
mod score;
mod spared;
mod spellings;
mod turns;
