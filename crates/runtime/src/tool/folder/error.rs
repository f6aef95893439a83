//! Why a path cannot be used, in words that a model can act on.

use std::io;

use rustix::io::Errno;
use thiserror::Error;

/// Why a path cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FolderError {
    /// It is outside, or not written as it should be.
    #[error("`{path}` {why}; name a path relative to the workspace root, such as `src/main.rs`")]
    Path {
        /// The path.
        path: String,
        /// The reason.
        why: &'static str,
    },
    /// A link leads out of the workspace.
    #[error("`{path}` leaves the workspace through a link; files outside it cannot be used")]
    Outside {
        /// The path.
        path: String,
    },
    /// It is inside, and not named from the root.
    #[error("`{path}` is in the workspace: use its relative path, `{plain}`")]
    Absolute {
        /// The path.
        path: String,
        /// The same from the root.
        plain: String,
    },
    /// A link leads to something inside.
    #[error("`{path}` leads through a link to `{real}`: name that instead")]
    Through {
        /// The path.
        path: String,
        /// What it leads to.
        real: String,
    },
    /// A link is where something should be written.
    #[error(
        "`{link}` is a link to `{target}`: write to the target instead, if it is in the workspace"
    )]
    Link {
        /// The link.
        link: String,
        /// What it names.
        target: String,
    },
    /// Nothing is there.
    #[error("`{path}` does not exist; `list` shows the files")]
    Missing {
        /// The path.
        path: String,
    },
    /// It is not what the tool works on.
    #[error("`{path}` is {found}, but {wanted} is needed")]
    Kind {
        /// The path.
        path: String,
        /// Its kind.
        found: &'static str,
        /// What it should be.
        wanted: &'static str,
    },
    /// It belongs to git.
    #[error("`{path}` is one of git's own files, which only the `git` tool changes")]
    Git {
        /// The path.
        path: String,
    },
    /// It is too large.
    #[error(
        "`{path}` has {size} bytes; the limit is {limit}; use `search` to find the part that matters"
    )]
    Large {
        /// The path.
        path: String,
        /// Its size.
        size: u64,
        /// The limit.
        limit: u64,
    },
    /// The call was given up.
    #[error("`{path}` is unchanged: the call was stopped")]
    Stopped {
        /// The path.
        path: String,
    },
    /// The system says no.
    #[error("`{path}` cannot be used: {source}")]
    Io {
        /// The path.
        path: String,
        /// Why.
        source: io::Error,
    },
}

impl FolderError {
    /// Returns whether the machine has no room left, or its disk is broken or not to be
    /// written to at all.
    pub fn is_shortage(&self) -> bool {
        let Self::Io { source, .. } = self else { return false };
        let disk = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded];
        disk.contains(&source.kind())
            || source.kind() == io::ErrorKind::ReadOnlyFilesystem
            || source.raw_os_error() == Some(Errno::IO.raw_os_error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_a_shortage_and_a_missing_file_is_none() {
        let error = |errno: Errno| FolderError::Io {
            path: "a".into(),
            source: io::Error::from_raw_os_error(errno.raw_os_error()),
        };
        assert!(
            [Errno::NOSPC, Errno::DQUOT, Errno::ROFS, Errno::IO]
                .map(error)
                .iter()
                .all(FolderError::is_shortage)
        );
        assert!(!error(Errno::ACCESS).is_shortage() && !error(Errno::NOENT).is_shortage());
    }
}
