//! The kernel's own tests: scripts with their traces, and properties of random charts.

mod brute;
mod charts;
mod drive;
mod governor;
mod rig;
mod toy;
mod wild;

mod bounds;
mod certificate;
mod lookups;
mod pairs;
mod properties;
mod scripts;
