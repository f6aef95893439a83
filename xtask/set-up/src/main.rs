//! Installs whatever tests need and is missing. `cargo xtask test` does so too; this can
//! begin before there is anything to test.

use std::process::ExitCode;

use xtask_set_up::components::{Installing, Need};

#[expect(clippy::print_stderr, reason = "a command for the terminal")]
fn main() -> ExitCode {
    match Installing::start(Need::ALL).join().has(&Need::ALL) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
