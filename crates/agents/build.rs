//! Gives the sources that decide a fingerprint, by which what one build has worked out is told
//! from what another would: those of the agents, and of the kernel where it stands beside them.
//! A kernel that comes as a package is told by its version.

use std::{
    fs,
    hash::{DefaultHasher, Hasher},
    io,
    path::{Path, PathBuf},
};

fn main() -> io::Result<()> {
    let mut hasher = DefaultHasher::new();
    for folder in ["src", "charts", "words", "../kernel/src"] {
        if !Path::new(folder).exists() {
            continue;
        }
        println!("cargo::rerun-if-changed={folder}");
        for file in files(Path::new(folder))? {
            let text = fs::read(&file)?;
            // With its length, so that nothing can move from one file into another unseen.
            hasher.write(file.as_os_str().as_encoded_bytes());
            hasher.write_usize(text.len());
            hasher.write(&text);
        }
    }
    println!("cargo::rustc-env=POINTSMAN_AGENTS_SOURCES={:016x}", hasher.finish());
    Ok(())
}

/// Returns every source below a folder, always in the same order.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (kind, path) = (entry.file_type()?, entry.path());
        // What tests and editors leave there decides nothing.
        let counts = ["rs", "toml", "bin", "txt"];
        let counts = path.extension().is_some_and(|it| counts.iter().any(|one| it == *one));
        if kind.is_dir() {
            found.extend(files(&path)?);
        } else if kind.is_file() && counts {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
