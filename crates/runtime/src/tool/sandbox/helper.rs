//! The helper: this program, run once more to set a sandbox up from within.
//!
//! In bubblewrap it *launches*, which hands descriptors to `bwrap`, and then it is the first
//! program *inside*: it compares the mounts with what was opened, gives up what is left, and
//! becomes the command. Under landlock it *keeps* the family of the command together, and an
//! *inner* one gives everything up and becomes the command. Nothing is executed before the
//! program that asked for it says so, and all of it ends with that program.

mod family;
mod mounts;

use std::{
    convert::Infallible,
    env,
    ffi::OsString,
    fs::{self, File},
    io::{Seek, Write},
    os::{
        fd::{AsRawFd, OwnedFd, RawFd},
        unix::{net::UnixStream, process::CommandExt},
    },
    process::{Command, ExitCode, Stdio},
};

use rustix::{
    fs::{MemfdFlags, Mode, OFlags, memfd_create, open},
    io::{FdFlags, fcntl_setfd},
};

use super::{
    CALLS, INNER, INSIDE, KEEP, LAUNCH, OWN, OWN_PATH, TRIAL,
    calls::{self, Sockets},
    landlock::OpenedPaths,
    limits, privileges,
    wire::{self, REFUSED},
};
use mounts::Expected;

/// The last of the descriptors that every program has: standard error.
const LAST: RawFd = 2;

/// Does what the arguments say; returns how it ended, or why it could not be done.
pub(super) fn helped(mut arguments: impl Iterator<Item = OsString>) -> Result<ExitCode, String> {
    let mode = arguments.next().ok_or("there is no program to run")?;
    let done = match mode.to_str() {
        Some(LAUNCH) => {
            close_inherited().and_then(|()| launch(arguments)).map(|never| match never {})
        }
        Some(INSIDE) => become_program(arguments, &confine_inside).map(|never| match never {}),
        Some(KEEP) => close_inherited()
            .and_then(|()| counted(&mut arguments))
            .and_then(|count| family::keep(count, arguments)),
        Some(INNER) => become_program(arguments, &confine_inner).map(|never| match never {}),
        Some(TRIAL) => return Ok(ExitCode::SUCCESS),
        _ => return Err(format!("unknown argument `{}`", mode.display())),
    };
    if let Err(why) = &done {
        // Without a reader, the exit code is enough.
        if let Ok(mut line) = wire::line() {
            drop(line.write_all(&[&[REFUSED], why.as_bytes()].concat()));
        }
    }
    done
}

/// Closes every descriptor but the first three. A shell, an editor or a service that started this
/// program may have left some open, and a command could read and write through them.
///
/// It must come first in this process: then no descriptor of its own is open yet, it has a single
/// thread, and everything needed later comes over the pipe.
fn close_inherited() -> Result<(), String> {
    let unlisted = |error| format!("the open descriptors cannot be listed: {error}");
    let mut open: Vec<RawFd> = Vec::new();
    for entry in fs::read_dir("/proc/self/fd").map_err(unlisted)? {
        let name = entry.map_err(unlisted)?.file_name();
        open.extend(name.to_str().and_then(|name| name.parse::<RawFd>().ok()));
    }
    for descriptor in open.into_iter().filter(|descriptor| *descriptor > LAST) {
        // Linux closes it whatever this returns; the list's own one is closed already.
        nix::unistd::close(descriptor).ok();
    }
    Ok(())
}

/// Reads how many descriptors come over the line.
fn counted(arguments: &mut impl Iterator<Item = OsString>) -> Result<usize, String> {
    let count = arguments.next().and_then(|text| text.to_str()?.parse().ok());
    count.ok_or_else(|| "the number of descriptors is missing".into())
}

fn failed(error: impl ToString) -> String {
    error.to_string()
}

/// Becomes bubblewrap, with descriptors under the numbers in its arguments.
fn launch(mut arguments: impl Iterator<Item = OsString>) -> Result<Infallible, String> {
    let count = counted(&mut arguments)?;
    let program = arguments.next().ok_or("bubblewrap is missing")?;
    let mut held = match count {
        0 => Vec::new(),
        count => wire::receive(wire::line().map_err(failed)?, count).map_err(failed)?,
    };
    let mut command = Command::new(program);
    let (mut rest, mut before) = (arguments, OsString::new());
    for mut word in rest.by_ref() {
        let by_descriptor = before == "--ro-bind-fd" || before == "--bind-fd";
        if by_descriptor && word == OWN {
            let own = open("/proc/self/exe", OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
            held.push(own.map_err(failed)?);
            word = inherited(held.last())?;
        } else if before == "--seccomp" && word == CALLS {
            held.push(filter().map_err(failed)?);
            word = inherited(held.last())?;
        } else if by_descriptor {
            let at = word.to_str().and_then(|text| text.parse::<usize>().ok());
            word = inherited(at.and_then(|at| held.get(at)))?;
        } else if before == "--ro-bind" && word == OWN_PATH {
            word = env::current_exe().map_err(failed)?.into();
        }
        command.arg(&word);
        if word == "--" {
            break;
        }
        before = word;
    }
    Err(command.args(rest).exec().to_string())
}

/// Returns a file in memory that holds the calls which are refused.
fn filter() -> Result<OwnedFd, String> {
    let memory = memfd_create("calls", MemfdFlags::CLOEXEC).map_err(failed)?;
    let mut file = File::from(memory);
    file.write_all(&calls::written(Sockets::Internet)?).map_err(failed)?;
    file.rewind().map_err(failed)?;
    Ok(file.into())
}

/// Keeps a descriptor open for the next program, and returns its number.
fn inherited(descriptor: Option<&OwnedFd>) -> Result<OsString, String> {
    let descriptor = descriptor.ok_or("a descriptor is missing")?;
    fcntl_setfd(descriptor, FdFlags::empty()).map_err(failed)?;
    Ok(descriptor.as_raw_fd().to_string().into())
}

/// The arguments of the helper.
#[derive(Debug, Default)]
struct HelperArguments {
    /// Mounts that must match what was opened.
    expected: Expected,
    opened: OpenedPaths,
    /// Of the descriptors that came over the line, those to read and those to write.
    read_held: Vec<usize>,
    write_held: Vec<usize>,
    limits: Vec<(OsString, u64)>,
    program: Vec<OsString>,
}

/// Reads the arguments of the program inside, or of the inner one.
fn told(
    mut arguments: impl Iterator<Item = OsString>,
    inside: bool,
) -> Result<HelperArguments, String> {
    let mut told = HelperArguments::default();
    while let Some(argument) = arguments.next() {
        let mut word = || arguments.next().ok_or("an argument is missing");
        let number = |word: OsString| {
            word.to_str().and_then(|text| text.parse().ok()).ok_or("a number is missing")
        };
        match argument.to_str() {
            Some(how @ ("--read" | "--write")) if inside => {
                let path = word()?.into();
                let id = (number(word()?)?, number(word()?)?);
                told.expected.add(path, id, how == "--read");
            }
            Some("--mounted") => told.expected.mounted.push(word()?.into()),
            Some("--network") => told.opened.network = true,
            Some("--read") => told.opened.read.push(word()?),
            Some("--write") => told.opened.write.push(word()?),
            Some("--read-held") => told.read_held.push(place(number(word()?)?)),
            Some("--write-held") => told.write_held.push(place(number(word()?)?)),
            Some("--limit") => told.limits.push((word()?, number(word()?)?)),
            Some("--") => {
                told.program = arguments.collect();
                return Ok(told);
            }
            _ => return Err(format!("unknown argument `{}`", argument.display())),
        }
    }
    Err("there is no program to run".into())
}

fn place(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

type Confine = dyn Fn(
    &UnixStream,
    OsString,
    &mut dyn Iterator<Item = OsString>,
) -> Result<HelperArguments, String>;

/// In bubblewrap: nothing is left to be given up but some calls, if the mounts are right.
fn confine_inside(
    _: &UnixStream,
    first: OsString,
    rest: &mut dyn Iterator<Item = OsString>,
) -> Result<HelperArguments, String> {
    let told = told([first].into_iter().chain(rest), true)?;
    told.expected.check()?;
    Ok(told)
}

/// Under landlock: everything is given up here. The first argument is the number of
/// descriptors.
fn confine_inner(
    line: &UnixStream,
    first: OsString,
    rest: &mut dyn Iterator<Item = OsString>,
) -> Result<HelperArguments, String> {
    let count = counted(&mut [first].into_iter())?;
    let mut told = told(rest, false)?;
    let mut held: Vec<Option<OwnedFd>> =
        wire::receive(line, count).map_err(failed)?.into_iter().map(Some).collect();
    let mut take =
        |at: &usize| held.get_mut(*at).and_then(Option::take).ok_or("a descriptor is missing");
    for at in &told.read_held {
        told.opened.read_held.push(take(at)?);
    }
    for at in &told.write_held {
        told.opened.write_held.push(take(at)?);
    }
    Ok(told)
}

/// Gives everything else up and becomes the program; returns why it could not.
fn become_program(
    mut arguments: impl Iterator<Item = OsString>,
    confine: &Confine,
) -> Result<Infallible, String> {
    let line = wire::line().map_err(failed)?;
    let first = arguments.next().ok_or("there is no program to run")?;
    let HelperArguments { opened, limits, program, expected, .. } =
        confine(&line, first, &mut arguments)?;
    let [name, rest @ ..] = program.as_slice() else { return Err("there is no program".into()) };
    let sockets =
        if expected.is_none() && !opened.network { Sockets::Files } else { Sockets::Internet };
    if expected.is_none() {
        opened.confine()?;
    }
    privileges::give_up().map_err(failed)?;
    for (name, most) in limits {
        let name = name.to_str().unwrap_or_default();
        limits::set(name, most).map_err(|error| format!("the limit `{name}`: {error}"))?;
    }
    calls::refuse(sockets)?;
    wire::may_go(&line).map_err(|error| format!("the parent process has exited: {error}"))?;
    Err(Command::new(name).args(rest).stdin(Stdio::null()).exec().to_string())
}
