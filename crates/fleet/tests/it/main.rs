//! The store in PostgreSQL. What needs a server is left to `cargo xtask test --only fleet`.

mod postgres;
