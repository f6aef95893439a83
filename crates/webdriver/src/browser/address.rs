//! How people name a page: by its address, or by a file.

use std::{io, path::Path};

use reqwest::Url;
use thiserror::Error;

/// Why a name is not a page.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AddressError {
    /// No browser of ours opens such addresses.
    #[error("`{page}` cannot be opened: only http, https and file are supported")]
    Scheme {
        /// The given page.
        page: String,
    },
    /// An address of no site.
    #[error("`{page}` cannot be opened: it names no host")]
    Host {
        /// The given page.
        page: String,
    },
    /// Neither an address nor a file that can be read.
    #[error("cannot read {page}: {source}")]
    File {
        /// The given page.
        page: String,
        /// Why it is not a file.
        source: io::Error,
    },
}

impl AddressError {
    /// Returns what to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Scheme { .. } => "use a web address or a local file".into(),
            Self::Host { .. } => "write the full address: `https://example.org/form`".into(),
            Self::File { page, .. } => match site(page) {
                Some(url) => format!("name an existing file, or a full address: `{url}`"),
                None => "name an existing file, or a full address".into(),
            },
        }
    }
}

/// Returns the address that was meant by a name that looks like that of a site.
fn site(page: &str) -> Option<String> {
    let host = page.split('/').next()?;
    let (name, port) = host.split_once(':').map_or((host, None), |(name, it)| (name, Some(it)));
    let port = port.is_none_or(|it| it.parse::<u16>().is_ok());
    if name == "localhost" && port {
        return Some(format!("http://{page}"));
    }
    let dotted = name.contains('.') && !name.starts_with('.') && !name.ends_with('.');
    let file = [".html", ".htm"].iter().any(|end| name.ends_with(end));
    (dotted && port && !file).then(|| format!("https://{page}"))
}

/// Returns the address of a page that is named by an address or by a file. What else a
/// browser could show (`data:`, `about:`) is left as it is.
pub fn address(page: &str) -> Result<String, AddressError> {
    if page.starts_with("data:") || page.starts_with("about:") {
        return Ok(page.into());
    }
    if let Some((scheme, rest)) = page.split_once("://") {
        return match scheme.to_ascii_lowercase().as_str() {
            "http" | "https" if rest.is_empty() || rest.starts_with(['/', '?', '#']) => {
                Err(AddressError::Host { page: page.into() })
            }
            "http" | "https" | "file" => Ok(page.into()),
            _ => Err(AddressError::Scheme { page: page.into() }),
        };
    }
    let failed = |source| AddressError::File { page: page.into(), source };
    let path = page.strip_prefix("file:").unwrap_or(page);
    let whole = Path::new(path).canonicalize().map_err(failed)?;
    if whole.is_dir() {
        return Err(failed(io::ErrorKind::IsADirectory.into()));
    }
    // A path that is absolute always makes an address.
    Ok(Url::from_file_path(&whole).map_or_else(|()| page.into(), String::from))
}
