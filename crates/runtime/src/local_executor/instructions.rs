//! What a workspace tells agents: its `AGENTS.md`, taken as content and never as orders.

use std::{
    io::Read,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::tool::folder::Folder;

/// The file's name.
const FILE: &str = "AGENTS.md";
/// Bytes of it that are taken.
const BYTES: usize = 64 << 10;

/// For which agents the workspace's instructions are read.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Instructions {
    /// The agents for which they are not, though these hold conversations.
    pub off: Vec<Box<str>>,
}

impl Instructions {
    /// Returns whether they are read for an agent that holds conversations.
    pub(super) fn wanted(&self, agent: &str) -> bool {
        self.off.iter().all(|off| **off != *agent)
    }
}

/// Returns the nearest instructions from a workspace upwards, as a list of one or none.
/// The search ends at the root of the repository, or at the workspace where there is
/// none, and no link leads out of that folder.
pub(super) fn found(workspace: &Path) -> Value {
    let top = workspace.ancestors().find(|folder| folder.join(".git").exists());
    let top = top.unwrap_or(workspace);
    let Ok(all) = Folder::open(top) else { return json!([]) };
    for folder in workspace.ancestors().take_while(|folder| folder.starts_with(top)) {
        let inside = folder.strip_prefix(top).unwrap_or_else(|_| Path::new("")).join(FILE);
        let Some(text) = text(&all, &inside) else { continue };
        let up = workspace.strip_prefix(folder).map_or(0, |below| below.components().count());
        let source: PathBuf = std::iter::repeat_n("..", up).chain([FILE]).collect();
        return json!([{ "source": source.to_string_lossy(), "text": text }]);
    }
    json!([])
}

/// Reads a file; nothing if it is not there, empty or no text.
fn text(folder: &Folder, path: &Path) -> Option<String> {
    let file = match folder.file(path) {
        Ok(file) => file,
        Err(crate::tool::folder::FolderError::Missing { .. }) => return None,
        Err(error) => {
            tracing::warn!(%error, "cannot read the instructions file; it is skipped");
            return None;
        }
    };
    let mut bytes = Vec::new();
    let limit = u64::try_from(BYTES).unwrap_or(u64::MAX);
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).ok()?;
    let cut = bytes.len() > BYTES;
    bytes.truncate(BYTES);
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if text.contains('\0') || text.trim().is_empty() {
        return None;
    }
    if cut {
        // An incomplete character at the end is dropped.
        let whole = text.trim_end_matches('\u{fffd}').len();
        text.truncate(whole);
        text.push_str("\n[the rest is cut: only the first 64 KiB are read]\n");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    struct Place(PathBuf);

    impl Place {
        fn new(name: &str) -> Self {
            let name = format!("pointsman-agents-md-{name}-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            drop(fs::remove_dir_all(&path));
            fs::create_dir_all(path.join("repo/a/b")).expect("the folder is created");
            Self(path.canonicalize().expect("the path exists"))
        }

        fn put(&self, path: &str, text: &str) {
            fs::write(self.0.join(path), text).expect("the file is written");
        }

        fn found(&self, workspace: &str) -> Value {
            found(&self.0.join(workspace))
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            drop(fs::remove_dir_all(&self.0));
        }
    }

    #[test]
    fn the_nearest_counts_up_to_the_root_of_the_repository() {
        let place = Place::new("near");
        place.put("AGENTS.md", "outside");
        assert_eq!(place.found("repo/a/b"), json!([]), "no repository, so only the folder itself");
        fs::create_dir(place.0.join("repo/.git")).expect("the folder is created");
        assert_eq!(place.found("repo/a/b"), json!([]));
        place.put("repo/AGENTS.md", "top");
        let top = json!([{ "source": "../../AGENTS.md", "text": "top" }]);
        assert_eq!(place.found("repo/a/b"), top);
        place.put("repo/a/b/AGENTS.md", " \n");
        assert_eq!(place.found("repo/a/b"), top, "an empty one says nothing");
        place.put("repo/a/b/AGENTS.md", "here");
        assert_eq!(place.found("repo/a/b"), json!([{ "source": "AGENTS.md", "text": "here" }]));
    }

    #[test]
    fn no_link_leads_out_and_a_long_one_is_cut() {
        let place = Place::new("link");
        place.put("secret", "secret");
        fs::create_dir(place.0.join("repo/.git")).expect("the folder is created");
        symlink(place.0.join("secret"), place.0.join("repo/a/AGENTS.md"))
            .expect("the link is created");
        assert_eq!(place.found("repo/a"), json!([]));
        place.put("repo/words.md", "words");
        symlink("../../words.md", place.0.join("repo/a/b/AGENTS.md")).expect("the link is created");
        assert_eq!(place.found("repo/a/b"), json!([{ "source": "AGENTS.md", "text": "words" }]));
        place.put("repo/words.md", &"é".repeat(BYTES));
        let text = place.found("repo/a/b").pointer("/0/text").cloned().unwrap_or_default();
        let text = text.as_str().expect("it is there");
        assert!(text.ends_with("only the first 64 KiB are read]\n") && text.len() < BYTES + 80);
    }
}
