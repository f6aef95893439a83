//! Tools as the command sets them up.

mod sandbox;
