//! The kernel's own tests: scripts with their traces, and properties of random charts.

mod rig;
mod toy;

mod scripts;
