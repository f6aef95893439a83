//! The kernel's own tests: scripts with their traces, and properties of random charts.

mod brute_force;
mod charts;
mod drive;
mod governor;
mod hostile_events;
mod scripted;
mod scripted_agent;

mod bounds;
mod certificate;
mod lookups;
mod pairs;
mod properties;
mod scripts;
