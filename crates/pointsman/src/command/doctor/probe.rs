//! Whether a folder can be written in, found out by trying.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process,
};

/// Tests whether a file could be created or written. Returns where that fails. Nothing stays
/// behind: files created for the test are removed.
pub(super) fn writable(file: &Path) -> Result<(), (PathBuf, io::Error)> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or_else(|| Path::new("."));
    // Of folders that are not there yet, the first run makes all.
    let mut there = folder;
    while !there.exists() {
        match there.parent() {
            Some(above) if !above.as_os_str().is_empty() => there = above,
            _ => there = Path::new("."),
        }
    }
    let name = format!(".pointsman-probe-{}", process::id());
    let trial = there.join(name);
    let tried = if there == folder {
        let written = fs::OpenOptions::new().write(true).create_new(true).open(&trial);
        written.map(drop).and_then(|()| fs::remove_file(&trial))
    } else {
        fs::create_dir(&trial).and_then(|()| fs::remove_dir(&trial))
    };
    tried.map_err(|error| (there.to_path_buf(), error))?;
    if file.exists() {
        let opened = fs::OpenOptions::new().append(true).open(file);
        opened.map(drop).map_err(|error| (file.to_path_buf(), error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_leaves_nothing_behind_and_tells_where_it_failed() {
        let folder = std::env::temp_dir().join(format!("pointsman-probe-{}", process::id()));
        fs::create_dir_all(&folder).expect("the folder is created");
        for file in ["a.db", "new/deep/a.db"] {
            assert!(writable(&folder.join(file)).is_ok());
        }
        assert_eq!(fs::read_dir(&folder).expect("the folder is readable").count(), 0);
        fs::write(folder.join("file"), "").expect("the file is written");
        let (place, _) = writable(&folder.join("file/a.db")).expect_err("a file is no folder");
        assert_eq!(place, folder.join("file"));
        fs::remove_dir_all(&folder).expect("the folder is removed");
    }
}
