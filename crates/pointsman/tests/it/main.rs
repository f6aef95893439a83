//! The binary as people meet it: standard output, standard error, exit code.
#![expect(clippy::disallowed_methods, reason = "a test waits with a limit of its own")]

mod acp;
mod acpx;
mod aimock;
mod asking;
mod attached;
mod budgets;
mod chat;
mod commands;
mod decode;
mod drip;
mod explore;
mod explored;
mod failures;
mod faulty;
mod fields;
mod folders;
mod form;
mod hidden;
mod hints;
mod home;
mod journals;
mod kept;
mod page;
mod places;
mod postgres;
mod precheck;
mod profiles;
mod queue;
mod ratchets;
mod requeue;
mod run;
mod schema;
mod serve;
mod served;
mod settings;
mod stops;
mod svg;
mod telemetry;
mod terminal;
mod tidy;
mod tls;
mod tmux;
mod tokens;
mod tool;
mod words;
mod worker;

use std::{
    path::Path,
    process::{Command, Stdio},
};

use pointsman_testing::folder::TempFolder;

/// Runs the command and returns everything that it shows.
fn pointsman(arguments: &[&str]) -> String {
    pointsman_in(Path::new(env!("CARGO_MANIFEST_DIR")), arguments)
}

fn pointsman_in(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_pointsman"))
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()
        .expect("the binary starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is text");
    format!(
        "exit {}\n--- stdout\n{}--- stderr\n{}",
        output.status.code().expect("the process exited by itself"),
        text(output.stdout),
        text(output.stderr)
    )
}

/// Returns only what goes to standard output, for commands that must succeed.
fn stdout(arguments: &[&str]) -> String {
    let shown = pointsman(arguments);
    let (status, rest) = shown.split_once("\n--- stdout\n").expect("there is a head");
    assert_eq!(status, "exit 0", "{shown}");
    rest.split_once("--- stderr\n").expect("there is a tail").0.to_owned()
}
