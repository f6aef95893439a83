//! Scripts for the form agent: main paths, faults, and the law that text never routes.
