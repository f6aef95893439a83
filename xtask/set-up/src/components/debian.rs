//! Programs of the system, installed as Debian packages where they are missing.

use std::{ffi::OsStr, path::Path, process::Command, time::Duration};

use anyhow::{Context, Result, bail};

use super::{alone, install};
use crate::process;

const PROBE_CAP: Duration = Duration::from_mins(1);

/// Returns whether a program can be found.
pub fn is_present(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|path| path.join(program).is_file())
}

/// Makes sure of these packages; installs only missing ones.
pub(super) fn ensure(packages: &[&str]) -> Result<()> {
    if missing(packages)?.is_empty() {
        return Ok(());
    }
    alone(|| {
        // Checked again: another process may have installed them while we waited.
        let missing = missing(packages)?;
        if missing.is_empty() {
            return Ok(());
        }
        let what = missing.join(", ");
        install(&what, apt(["update", "--quiet"]))?;
        let options = ["install", "--yes", "--no-install-recommends"];
        install(&what, apt(options.into_iter().chain(missing)))?;
        let still = self::missing(packages)?;
        if !still.is_empty() {
            bail!("{} cannot be found, even after its installation", still.join(", "));
        }
        Ok(())
    })
}

fn missing<'a>(packages: &[&'a str]) -> Result<Vec<&'a str>> {
    let mut missing = Vec::new();
    for package in packages {
        if !is_there(package)? {
            missing.push(*package);
        }
    }
    Ok(missing)
}

/// Returns whether a package, or what it stands for, is there: a program that was
/// installed in another way is as good.
fn is_there(package: &str) -> Result<bool> {
    Ok(match package {
        "nodejs" => is_present("node"),
        "bubblewrap" => is_present("bwrap"),
        "postgresql" => Path::new("/usr/lib/postgresql").is_dir() && is_present("psql"),
        "util-linux" => is_present("setpriv"),
        "chromium-driver" => is_present("chromedriver"),
        "python3-venv" => is_present("python3") && has_venv()?,
        program => is_present(program),
    })
}

/// Debian splits what makes virtual environments from Python itself.
fn has_venv() -> Result<bool> {
    let mut python = process::command("python3");
    python.args(["-c", "import ensurepip, venv"]).stderr(std::process::Stdio::null());
    Ok(process::run(python, PROBE_CAP).context("asking Python for venv")?.well())
}

fn apt(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
    let mut apt = process::command("apt-get");
    // A fresh machine updates itself at first, and mirrors have bad moments.
    apt.args(["-o", "DPkg::Lock::Timeout=600", "-o", "Acquire::Retries=3"]);
    apt.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
    apt
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_packages_are_missing() -> Result<()> {
        assert_eq!(
            missing(&["sh", "pointsman-has-no-such-program"])?,
            ["pointsman-has-no-such-program"]
        );
        Ok(())
    }
}
