//! Tests of what an editor is told.
