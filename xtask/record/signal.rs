//! Signals, as a driver reads them.

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Signal {
    Red,
    Green,
}

impl Signal {
    /// Returns whether a train must stop.
    pub fn stops(self) -> bool {
        self == Signal::Green
    }
}
