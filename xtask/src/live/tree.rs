//! A folder as it is: what every file in it holds, to see whether something changed.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use pointsman_kernel::id::Digest;

/// The files of a folder with their digests, the links with their aims, and the folders.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Tree(BTreeMap<PathBuf, String>);

impl Tree {
    /// Reads a folder, but for these names at its top.
    pub(super) fn of(folder: &Path, but_for: &[&str]) -> io::Result<Self> {
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if !but_for.iter().any(|name| entry.file_name() == *name) {
                read(&entry.path(), &mut files)?;
            }
        }
        Ok(Self(files))
    }

    /// Returns what differs, a line for each.
    pub(super) fn changes(&self, after: &Self) -> Vec<String> {
        let mut changes = Vec::new();
        for (path, held) in &self.0 {
            match after.0.get(path) {
                None => changes.push(format!("{} is gone", path.display())),
                Some(now) if now != held => changes.push(format!("{} is changed", path.display())),
                Some(_) => {}
            }
        }
        let new = after.0.keys().filter(|path| !self.0.contains_key(*path));
        changes.extend(new.map(|path| format!("{} is new", path.display())));
        changes
    }
}

fn read(path: &Path, files: &mut BTreeMap<PathBuf, String>) -> io::Result<()> {
    let kind = fs::symlink_metadata(path)?.file_type();
    let held = if kind.is_symlink() {
        format!("a link to {}", fs::read_link(path)?.display())
    } else if kind.is_dir() {
        for entry in fs::read_dir(path)? {
            read(&entry?.path(), files)?;
        }
        "a folder".into()
    } else {
        Digest::of(&fs::read(path)?).to_string()
    };
    files.insert(path.into(), held);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::Scratch;

    #[test]
    fn changed_files_are_found_except_excluded_ones() -> io::Result<()> {
        let scratch = Scratch::new()?;
        let top = scratch.file("");
        fs::create_dir(scratch.file("deep"))?;
        for name in ["deep/same", "deep/changed", "gone", "left"] {
            fs::write(scratch.file(name), name)?;
        }
        let before = Tree::of(&top, &["left"])?;
        assert_eq!(before.changes(&before.clone()), Vec::<String>::new());
        fs::write(scratch.file("deep/changed"), "else")?;
        fs::remove_file(scratch.file("gone"))?;
        fs::write(scratch.file("left"), "else")?;
        std::os::unix::fs::symlink("/", scratch.file("new"))?;
        let said = before.changes(&Tree::of(&top, &["left"])?).join("\n");
        assert_eq!(said.lines().count(), 3, "{said}");
        for words in ["deep/changed is changed", "gone is gone", "new is new"] {
            assert!(said.contains(words), "{said}");
        }
        Ok(())
    }
}
