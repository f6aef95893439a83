//! Tables: command lines, what runners print, and what both come to.
