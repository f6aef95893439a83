//! `cargo xtask train fields`: learns from labelled pages what form fields ask for, and
//! `cargo xtask eval forms`: judges that on pages of other sites.
//!
//! Pages and labels are read in `data`, pages of one site are found in `site`, the model is
//! learnt in `train`, judged in `judge`, and turned against the labels in `surprise`. What a
//! field costs is measured in `cost`.

pub mod cost;
pub mod data;
pub mod judge;
mod math;
mod site;
pub mod surprise;
#[cfg(test)]
mod tests;
pub mod train;
mod trivial;

pub use train::Settings;
