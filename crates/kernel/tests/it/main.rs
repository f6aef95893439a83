//! The kernel's own tests: scripts with their traces, and properties of random charts.

mod charts;
mod drive;
mod rig;
mod toy;

mod properties;
mod scripts;
