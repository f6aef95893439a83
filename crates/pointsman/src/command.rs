//! The commands, one file each.

mod acp;
pub(crate) mod answer;
mod chat;
mod check;
mod compare;
mod decode;
mod doctor;
mod dry;
mod explain;
mod fields;
mod graph;
mod import;
mod init;
mod manual;
mod migrate;
mod names;
mod profile;
mod replay;
mod report;
mod reproduce;
mod resume;
mod run;
mod runs;
mod screen;
mod serve;
pub(crate) mod show;
mod simulate;
mod stats;
mod submit;
mod token;
mod watch;
mod worker;

use std::process::ExitCode;

use clap::Subcommand;

use crate::{paths::Globals, report::Error};

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Chat(chat::Chat),
    Run(Box<run::Run>),
    Submit(Box<submit::Submit>),
    Worker(worker::WorkerCommand),
    Acp(acp::Acp),
    Serve(serve::Serve),
    Runs(runs::Runs),
    Show(show::Show),
    Why(show::Why),
    Watch(watch::Watch),
    Resume(resume::Resume),
    Replay(replay::Replay),
    Fork(resume::Fork),
    Pause(answer::Pause),
    Cancel(answer::Cancel),
    Approve(answer::Approve),
    Deny(answer::Deny),
    Stats(stats::ShowStats),
    Export(replay::Export),
    Import(import::Import),
    Check(check::Check),
    Graph(graph::Graph),
    Report(report::ShowReport),
    Compare(compare::Compare),
    Reproduce(reproduce::Reproduce),
    Simulate(simulate::Simulate),
    Fields(fields::Fields),
    #[command(name = "screen")]
    Screen(screen::ShowScreen),
    Explain(explain::Explain),
    Decode(decode::Decode),
    Profile(profile::ProfileCommand),
    Token(token::TokenCommand),
    Init(init::Init),
    Doctor(doctor::Doctor),
    Completions(manual::Completions),
    Man(manual::Manual),
    Migrate(migrate::Migrate),
    Names(names::Names),
}

impl Command {
    /// Runs it and returns the exit code.
    pub(crate) fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        match self {
            Self::Chat(chat) => chat.run(globals),
            Self::Run(run) => run.run(globals),
            Self::Submit(submit) => submit.run(globals),
            Self::Worker(worker) => worker.run(globals),
            Self::Acp(acp) => acp.run(globals),
            Self::Serve(serve) => serve.run(globals),
            Self::Runs(runs) => runs.run(globals),
            Self::Show(show) => show.run(globals),
            Self::Why(why) => why.run(globals),
            Self::Watch(watch) => watch.run(globals),
            Self::Resume(resume) => resume.run(globals),
            Self::Replay(replay) => replay.run(globals),
            Self::Fork(fork) => fork.run(globals),
            Self::Pause(pause) => pause.run(globals),
            Self::Cancel(cancel) => cancel.run(globals),
            Self::Approve(approve) => approve.run(globals),
            Self::Deny(deny) => deny.run(globals),
            Self::Stats(stats) => stats.run(globals),
            Self::Export(export) => export.run(globals),
            Self::Import(import) => import.run(globals),
            Self::Check(check) => check.run(),
            Self::Graph(graph) => graph.run(globals),
            Self::Report(report) => report.run(globals),
            Self::Compare(compare) => compare.run(globals),
            Self::Reproduce(reproduce) => reproduce.run(globals),
            Self::Simulate(simulate) => simulate.run(),
            Self::Fields(fields) => fields.run(),
            Self::Screen(screen) => screen.run(),
            Self::Explain(explain) => explain.run(),
            Self::Decode(decode) => decode.run(),
            Self::Profile(profile) => profile.run(),
            Self::Token(token) => token.run(globals),
            Self::Init(init) => init.run(),
            Self::Doctor(doctor) => doctor.run(globals),
            Self::Completions(completions) => completions.run(),
            Self::Man(manual) => manual.run(),
            Self::Migrate(migrate) => migrate.run(globals),
            Self::Names(names) => names.run(globals),
        }
    }
}
