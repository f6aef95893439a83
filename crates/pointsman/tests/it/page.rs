//! The inspector's page in a real browser, over runs of the real program.

mod acting;
mod facts;
mod hostile;
mod keyboard;
mod large;
mod levels;
mod list;
mod live;
mod moments;
mod polling;
mod rebinding;
mod refresh;
mod results;
mod rig;
mod secrets;
mod stats;
mod views;
mod waiting;
