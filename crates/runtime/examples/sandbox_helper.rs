//! A program that is nothing but the sandbox's helper: tests run commands through it.

use std::{env, process::ExitCode};

use pointsman_runtime::tool::sandbox::{HELPER, helper_main};

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == HELPER) {
        return helper_main(arguments);
    }
    ExitCode::from(2)
}
