//! What a run must know and the journal must not: texts that were written for it, and the
//! key of its digests. Only this user can read it, and it goes when the run ends. Pictures of
//! its pages stay, for this user alone as well.

use std::{
    fs,
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use pointsman_kernel::id::Digest;
use pointsman_runtime::{clock::entropy, private, store::RunId};

/// How the name of a kept text begins.
const KEPT: &str = "kept:";
const KEY: &str = "key";

/// The private files of one run.
#[derive(Clone, Debug)]
pub(super) struct Vault {
    folder: PathBuf,
    /// The key, once it was read or made.
    key: OnceLock<Vec<u8>>,
}

impl Vault {
    pub(super) fn new(forms: &Path, run: &RunId) -> Self {
        Self { folder: forms.join(format!("{run}.private")), key: OnceLock::new() }
    }

    /// Stores a text, and returns its name.
    pub(super) fn keep(&self, text: &str) -> io::Result<String> {
        let digest = self.digest(text)?;
        self.write(&digest, text.as_bytes())?;
        Ok(format!("{KEPT}{digest}"))
    }

    /// Returns the text behind a name; any other text is itself.
    pub(super) fn text(&self, named: &str) -> io::Result<String> {
        let Some(digest) = named.strip_prefix(KEPT) else { return Ok(named.into()) };
        if !digest.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(named.into());
        }
        fs::read_to_string(self.folder.join(digest))
    }

    /// Returns all texts that are kept.
    pub(super) fn texts(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let texts = entries.filter(|entry| entry.file_name() != KEY);
        texts.filter_map(|entry| fs::read_to_string(entry.path()).ok()).collect()
    }

    /// Returns the digest of a value under the run's own key: without the key, the value cannot be
    /// found by trying.
    pub(super) fn digest(&self, value: &str) -> io::Result<String> {
        let mut bytes = self.key()?;
        bytes.extend_from_slice(value.as_bytes());
        Ok(Digest::of(&bytes).to_string().chars().take(32).collect())
    }

    fn key(&self) -> io::Result<Vec<u8>> {
        if let Some(key) = self.key.get() {
            return Ok(key.clone());
        }
        let key = match fs::read(self.folder.join(KEY)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let key: Vec<u8> = (0..4).flat_map(|_| entropy().to_le_bytes()).collect();
                self.write(KEY, &key)?;
                key
            }
            read => read?,
        };
        Ok(self.key.get_or_init(|| key).clone())
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        write(&self.folder, name, bytes)
    }

    /// Returns whether anything was stored.
    pub(super) fn exists(&self) -> bool {
        self.folder.exists()
    }

    /// Removes all of it.
    pub(super) fn remove(&self) {
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(%error, folder = %self.folder.display(), "private data could not be removed");
            }
            _ => {}
        }
    }
}

/// Keeps a picture under the digest of what it shows, and returns its path.
pub(super) fn picture(folder: &Path, picture: &[u8]) -> io::Result<String> {
    let digest: String = Digest::of(picture).to_string().chars().take(16).collect();
    let name = format!("{digest}.png");
    write(folder, &name, picture)?;
    Ok(folder.join(name).display().to_string())
}

/// Writes a file of a folder, for this user alone.
fn write(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    private::folder(folder)?;
    let mut file = fs::OpenOptions::new();
    let file = file.write(true).create(true).truncate(true).mode(0o600);
    file.open(folder.join(name))?.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_text_is_kept_for_this_user_until_the_run_ends() {
        let forms = std::env::temp_dir().join(format!("pointsman-vault-{:x}", entropy()));
        let run: RunId = "r1".parse().unwrap_or_else(|error| panic!("{error}"));
        let other: RunId = "r2".parse().unwrap_or_else(|error| panic!("{error}"));
        let vault = Vault::new(&forms, &run);
        let token = vault.keep("my secret").unwrap_or_default();
        assert!(token.starts_with(KEPT) && !token.contains("secret"), "{token}");
        assert_eq!(vault.text(&token).ok().as_deref(), Some("my secret"));
        assert_eq!(vault.texts(), ["my secret"]);
        assert_eq!(vault.text("plain").ok().as_deref(), Some("plain"));
        assert_eq!(vault.text("kept:../../x").ok().as_deref(), Some("kept:../../x"));
        assert_eq!(vault.keep("my secret").ok(), Some(token.clone()));
        // The same value has another digest in another run.
        let others = Vault::new(&forms, &other);
        assert_ne!(others.digest("my secret").ok(), vault.digest("my secret").ok());
        let digest = token.strip_prefix(KEPT).unwrap_or_default();
        let pictures = forms.join("pictures");
        let picture = picture(&pictures, b"a picture").unwrap_or_default();
        for (path, mode) in [
            (forms.clone(), 0o700),
            (vault.folder.clone(), 0o700),
            (vault.folder.join(digest), 0o600),
            (vault.folder.join(KEY), 0o600),
            (pictures, 0o700),
            (picture.into(), 0o600),
        ] {
            let found = fs::metadata(&path).map(|it| it.permissions().mode() & 0o777);
            assert_eq!(found.ok(), Some(mode), "{}", path.display());
        }
        vault.remove();
        others.remove();
        assert!(vault.text(&token).is_err() && !vault.folder.exists());
        drop(fs::remove_dir_all(&forms));
    }
}
