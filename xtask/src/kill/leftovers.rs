//! What a killed program leaves running.

use std::{
    fs,
    os::unix::ffi::OsStrExt,
    path::Path,
    thread,
    time::{Duration, Instant},
};

/// How long processes may take to end after the program that had them started.
const DYING: Duration = Duration::from_mins(1);
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// Waits until nothing runs that a program in this folder started, and returns what still
/// does.
pub(super) fn wait(folder: &Path) -> Vec<String> {
    let since = Instant::now();
    loop {
        let found = processes(folder);
        if found.is_empty() || since.elapsed() > DYING {
            return found;
        }
        thread::sleep(BETWEEN_LOOKS);
    }
}

/// Returns the processes that name something below a folder in their words or their
/// environment, or that work there.
fn processes(folder: &Path) -> Vec<String> {
    // With its end, because the name of one folder may begin another's.
    let name = &folder.join("").into_os_string().into_encoded_bytes()[..];
    let holds = |bytes: &[u8]| bytes.windows(name.len()).any(|part| part == name);
    let mut found = Vec::new();
    for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(id) = process.file_name().to_str().and_then(|id| id.parse::<u32>().ok()) else {
            continue;
        };
        let read = |file: &str| fs::read(process.path().join(file)).unwrap_or_default();
        let words = read("cmdline");
        // One that has ended, and was not waited for yet, has neither.
        let folder = fs::read_link(process.path().join("cwd")).unwrap_or_default();
        if id != std::process::id()
            && (holds(&words) || holds(&read("environ")) || holds(folder.as_os_str().as_bytes()))
        {
            found.push(format!("{id} ({})", String::from_utf8_lossy(&words).replace('\0', " ")));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;
    use crate::place::Scratch;

    #[test]
    fn processes_are_found_by_folder_arguments_and_environment() -> std::io::Result<()> {
        let scratch = Scratch::new()?;
        let folder = scratch.file("");
        fs::create_dir(scratch.file("x"))?;
        assert_eq!(processes(&folder), Vec::<String>::new());
        // Each reads until its input ends, so that none is left behind.
        let mut within = Command::new("cat");
        within.current_dir(scratch.file("x"));
        let mut named = Command::new("cat");
        named.arg("-").arg(scratch.file("y"));
        let mut told = Command::new("cat");
        told.env("SOME", scratch.file("x"));
        for mut command in [within, named, told] {
            let mut child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn()?;
            // Its words can be read a moment after it has started.
            let (since, mut found) = (Instant::now(), Vec::new());
            while found.is_empty() && since.elapsed() < DYING {
                found = processes(&folder);
            }
            child.kill()?;
            child.wait()?;
            assert_eq!(found.len(), 1, "{command:?}: {found:?}");
        }
        assert_eq!(wait(&folder), Vec::<String>::new());
        Ok(())
    }
}
