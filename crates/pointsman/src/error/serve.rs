//! What can go wrong with the server, and what to do about it.

use std::{io, net::SocketAddr};

use thiserror::Error;

/// The error of a server that cannot start.
#[derive(Debug, Error)]
pub(crate) enum ServeError {
    /// The address cannot be used.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// Other machines could reach the address, and there is no token to tell them apart.
    #[error("{address} is reachable from other machines, but there is no token")]
    Exposed {
        /// The address.
        address: SocketAddr,
    },
    /// The certificate or its key cannot be used.
    #[error("cannot use {path} for TLS: {why}")]
    Tls {
        /// The file.
        path: String,
        /// Why.
        why: String,
    },
    /// Only one of certificate and key is set.
    #[error("`[serve]` sets `{given}` without `{missing}`")]
    HalfTls {
        /// The key that is set.
        given: &'static str,
        /// The other one.
        missing: &'static str,
    },
}

impl ServeError {
    /// Returns what to do next.
    pub(super) fn hint(&self) -> String {
        match self {
            Self::Listen { source, .. } if source.kind() == io::ErrorKind::AddrInUse => {
                "stop the other server, or give another port".into()
            }
            Self::Listen { .. } => "give an address of this machine".into(),
            Self::Exposed { .. } => {
                "create a token with `pointsman token create --role operate`, or listen on 127.0.0.1"
                    .into()
            }
            Self::Tls { .. } => "give PEM files: `--tls-cert chain.pem --tls-key key.pem`".into(),
            Self::HalfTls { given, missing } => {
                format!("set `{missing}`, too, or remove `{given}`")
            }
        }
    }
}
