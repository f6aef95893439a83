//! The server's tokens: a file that holds who may do what, and no token.
//!
//! A token has 256 random bits, so guessing is hopeless, and a plain hash keeps it safe at
//! rest: salts and slow hashes protect passwords, which people choose. One file belongs to one
//! server. Servers that share a database share tokens only if an administrator gives them the same
//! file: a worker that can write to the database must not be able to let itself in.

use std::{
    fmt,
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Write as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use clap::{ValueEnum, builder::PossibleValue};
use pointsman_runtime::clock::{entropy, now_ms};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Every token begins so, and scanners for leaked secrets find it.
const PREFIX: &str = "pointsman_";
/// What the hash of a token is derived for. Changing it ends every token.
const CONTEXT: &str = "pointsman serve token v1";
/// The format of the file.
const FORMAT: u32 = 1;
/// The longest name of a token.
const LONGEST_NAME: usize = 64;

/// What the bearer of a token may do. Each role includes those before it.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Role {
    /// Read runs, charts and metrics.
    Read,
    /// Also start runs and act on single runs: answer, cancel, pause, resume, fork.
    Operate,
    /// Also act on many runs at a time, and remove runs.
    Admin,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.to_possible_value().as_ref().map_or("", PossibleValue::get_name))
    }
}

/// A token as it is kept: everything but the token.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct TokenRecord {
    /// What people call it by; it is the beginning of the token, too.
    pub(crate) id: String,
    /// What its maker calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    pub(crate) role: Role,
    /// The hash of the token, in hexadecimal digits.
    hash: String,
    pub(crate) created_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expires_ms: Option<u64>,
    /// Whether it counts only in requests of the server's own page.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub(crate) page: bool,
}

impl TokenRecord {
    /// Returns whether it counts at a time.
    pub(crate) fn is_valid(&self, now_ms: u64) -> bool {
        self.expires_ms.is_none_or(|until| now_ms < until)
    }
}

/// The properties of a new token.
#[derive(Clone, Debug)]
pub(crate) struct NewToken {
    pub(crate) role: Role,
    pub(crate) name: Option<String>,
    pub(crate) expires_ms: Option<u64>,
    pub(crate) page: bool,
}

/// The content of the file.
#[derive(Debug, Deserialize, Serialize)]
struct TokenFileContent {
    version: u32,
    tokens: Vec<TokenRecord>,
}

/// Why tokens cannot be read or changed.
#[derive(Debug, Error)]
pub(crate) enum TokenError {
    /// The file cannot be read.
    #[error("cannot read the tokens in {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// The file cannot be written.
    #[error("cannot write the tokens to {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    /// The file is none of ours, or was made by a later build.
    #[error("this build cannot read the tokens in {}", path.display())]
    Format { path: PathBuf },
    /// Others may change the file.
    #[error("other users can read or change {} (mode {mode:o})", path.display())]
    Open { path: PathBuf, mode: u32 },
    /// A name is too long, or has characters that a list cannot show.
    #[error("a token cannot be called `{name}`")]
    Name { name: String },
    /// A token of that name is there.
    #[error("a token called `{name}` already exists")]
    Exists { name: String },
    /// None is called so.
    #[error("no token has the id or the name `{wanted}`")]
    NoSuchToken { wanted: String },
}

impl TokenError {
    /// Returns what to do next.
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Read { .. } | Self::Write { .. } => {
                "check the file's owner, or set `tokens` in `[serve]` to another file".into()
            }
            Self::Format { .. } => {
                "use the build that wrote the file, or set `tokens` in `[serve]` to another one"
                    .into()
            }
            Self::Open { path, .. } => format!("run `chmod 600 {}`", path.display()),
            Self::Name { .. } => format!("use up to {LONGEST_NAME} printable characters"),
            Self::Exists { .. } => "give another name, or revoke that token first".into(),
            Self::NoSuchToken { .. } => "`pointsman token list` lists them".into(),
        }
    }
}

/// Which file was read: one that is replaced or changed differs in one of these.
type Stamp = Option<(u64, i64, i64, u64)>;

/// The file of tokens. It is read again whenever it has changed, so what is revoked ends at once.
#[derive(Debug)]
pub(crate) struct TokenFile {
    path: PathBuf,
    read: Mutex<Option<(Stamp, Vec<TokenRecord>)>>,
}

impl TokenFile {
    pub(crate) const fn at(path: PathBuf) -> Self {
        Self { path, read: Mutex::new(None) }
    }

    #[cfg(test)]
    fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a token and returns it with its record: the only time that it is seen.
    pub(crate) fn create(&self, new: NewToken) -> Result<(String, TokenRecord), TokenError> {
        let NewToken { role, name, expires_ms, page } = new;
        if let Some(name) = &name
            && (name.trim().is_empty()
                || name.chars().count() > LONGEST_NAME
                || name.chars().any(char::is_control))
        {
            return Err(TokenError::Name { name: name.escape_debug().to_string() });
        }
        self.change(|tokens| {
            if let Some(name) = &name
                && tokens.iter().any(|token| token.name.as_ref() == Some(name))
            {
                return Err(TokenError::Exists { name: name.clone() });
            }
            let mut id = new_id();
            while tokens.iter().any(|token| token.id == id) {
                id = new_id();
            }
            let token = format!("{PREFIX}{id}_{}", secret());
            let record = TokenRecord {
                id,
                name,
                role,
                hash: hash(&token).to_hex().to_string(),
                created_ms: now_ms(),
                expires_ms,
                page,
            };
            tokens.push(record.clone());
            Ok((token, record))
        })
    }

    /// Revokes a token by its id or its name.
    pub(crate) fn revoke(&self, wanted: &str) -> Result<TokenRecord, TokenError> {
        self.change(|tokens| {
            let is =
                |token: &TokenRecord| token.id == wanted || token.name.as_deref() == Some(wanted);
            let place = tokens.iter().position(is);
            let place = place.ok_or_else(|| TokenError::NoSuchToken { wanted: wanted.into() })?;
            Ok(tokens.remove(place))
        })
    }

    /// Returns all tokens, the oldest first.
    pub(crate) fn list(&self) -> Result<Vec<TokenRecord>, TokenError> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = self.stamp()?;
        match &*read {
            Some((known, tokens)) if *known == stamp => Ok(tokens.clone()),
            _ => {
                let tokens = self.read()?;
                *read = Some((stamp, tokens.clone()));
                Ok(tokens)
            }
        }
    }

    /// Returns the record of a token that counts now. How long this takes tells nothing of the
    /// tokens that there are: every hash is compared, each in constant time.
    pub(crate) fn find(&self, token: &str) -> Result<Option<TokenRecord>, TokenError> {
        let (given, now) = (hash(token), now_ms());
        let mut found = None;
        for record in self.list()? {
            let kept = blake3::Hash::from_hex(&record.hash);
            if kept.is_ok_and(|kept| kept == given) && record.is_valid(now) {
                found = Some(record);
            }
        }
        Ok(found)
    }

    fn stamp(&self) -> Result<Stamp, TokenError> {
        match fs::metadata(&self.path) {
            Ok(it) => Ok(Some((it.ino(), it.ctime(), it.ctime_nsec(), it.len()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(TokenError::Read { path: self.path.clone(), source }),
        }
    }

    fn read(&self) -> Result<Vec<TokenRecord>, TokenError> {
        let path = || self.path.clone();
        let fails = |source| TokenError::Read { path: path(), source };
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(fails(source)),
        };
        let mode = file.metadata().map_err(fails)?.mode();
        if mode & 0o077 != 0 {
            return Err(TokenError::Open { path: path(), mode: mode & 0o777 });
        }
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(fails)?;
        match serde_json::from_str::<TokenFileContent>(&text) {
            Ok(content) if content.version == FORMAT => Ok(content.tokens),
            _ => Err(TokenError::Format { path: path() }),
        }
    }

    /// Changes the file as a whole, one process at a time.
    fn change<T>(
        &self,
        change: impl FnOnce(&mut Vec<TokenRecord>) -> Result<T, TokenError>,
    ) -> Result<T, TokenError> {
        let fails = |source| TokenError::Write { path: self.path.clone(), source };
        let folder = self.path.parent().unwrap_or_else(|| Path::new("."));
        fs::create_dir_all(folder).map_err(fails)?;
        let beside = |ending: &str| {
            let mut path = self.path.clone().into_os_string();
            path.push(ending);
            PathBuf::from(path)
        };
        let mut private = OpenOptions::new();
        private.write(true).mode(0o600);
        let lock = private.clone().create(true).open(beside(".lock")).map_err(fails)?;
        lock.lock().map_err(fails)?;
        let mut tokens = self.read()?;
        let changed = change(&mut tokens)?;
        let text = serde_json::to_string_pretty(&TokenFileContent { version: FORMAT, tokens });
        let text = text.map_err(|error| fails(error.into()))? + "\n";
        let temporary = beside(".new");
        let replaced = || -> io::Result<()> {
            // A process that was killed may have left one behind.
            drop(fs::remove_file(&temporary));
            let mut file = private.clone().create_new(true).open(&temporary)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&temporary, &self.path)?;
            File::open(folder)?.sync_all()
        };
        replaced().map_err(fails)?;
        Ok(changed)
    }
}

fn hash(token: &str) -> blake3::Hash {
    blake3::Hasher::new_derive_key(CONTEXT).update(token.as_bytes()).finalize()
}

/// Returns 256 random bits in hexadecimal digits.
pub(crate) fn secret() -> String {
    let [a, b, c, d] = [(); 4].map(|()| entropy());
    format!("{a:016x}{b:016x}{c:016x}{d:016x}")
}

fn new_id() -> String {
    format!("{:08x}", entropy() & 0xffff_ffff)
}

#[cfg(test)]
mod tests;
