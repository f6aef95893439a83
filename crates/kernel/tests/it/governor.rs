//! The governor, seen through the step: what it rules, what it lets pass, and why.

mod allowed_work;
mod governed;
mod loops;
mod permissions;
mod properties;
mod rules;
mod score;
mod spellings;
mod tool_caller;
mod turns;
