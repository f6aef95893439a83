//! Encryption of connections: `sslmode` and `sslrootcert` of an address mean what they mean to
//! PostgreSQL's own programs.

use std::{
    error::Error,
    io,
    path::{Path, PathBuf},
    str::FromStr as _,
    sync::Arc,
};

use percent_encoding::percent_decode_str;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
    client::{
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_cert_signed_by_trust_anchor, verify_server_name,
    },
    crypto::{WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject as _},
    server::ParsedCertificate,
};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio_postgres::{Config, config::SslMode};

type AnyError = Box<dyn Error + Send + Sync>;

/// What to do about a certificate that is not trusted, and about one for another name.
const UNTRUSTED: &str = "Give the certificate of the server or of its authority, as a PEM file, with \
                         `sslrootcert=FILE`, or use `sslmode=require` without `sslrootcert`, \
                         which encrypts without checking the certificate";
const MISNAMED: &str = "In the address, use a name that the certificate lists, or \
                        `sslmode=verify-ca`, which does not check the name";

/// What is checked about a server's certificate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum CertificateCheck {
    /// Nor whether the server has its key: certificates of old formats are accepted, too.
    Nothing,
    Issuer,
    IssuerAndName,
}

/// The encryption that an address asks for.
#[derive(Debug, Eq, PartialEq)]
struct TlsOptions {
    mode: SslMode,
    check: CertificateCheck,
    /// The file with the trusted certificates, if these are not the machine's.
    roots: Option<PathBuf>,
}

/// Reads an address, and returns how it is connected to and with which encryption.
pub(super) fn read(url: &str) -> Result<(Config, ClientConfig), AnyError> {
    let (url, options) = split(url)?;
    let mut config = Config::from_str(&url)?;
    let Some(options) = options else {
        return Ok((config, client(CertificateCheck::Nothing, None)?));
    };
    config.ssl_mode(options.mode);
    Ok((config, client(options.check, options.roots.as_deref())?))
}

/// Takes the parameters of encryption out of a URL: the driver does not know all of them. An address in
/// another form is left to the driver.
fn split(url: &str) -> Result<(String, Option<TlsOptions>), AnyError> {
    let is_url = ["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme));
    // A password may contain a question mark.
    let host = url.find('@').unwrap_or_default();
    let query = url.get(host..).and_then(|rest| rest.find('?')).map(|at| host.saturating_add(at));
    if !is_url {
        return Ok((url.into(), None));
    }
    let Some((address, query)) = query.and_then(|at| url.split_at_checked(at)) else {
        return Ok((url.into(), Some(TlsOptions::of(None, None)?)));
    };
    let (mut mode, mut roots, mut rest) = (None, None, Vec::new());
    for parameter in query.trim_start_matches('?').split('&') {
        match parameter.split_once('=') {
            Some(("sslmode", value)) => mode = Some(decoded(value)?),
            Some(("sslrootcert", value)) => roots = Some(decoded(value)?),
            _ => rest.push(parameter),
        }
    }
    let query = if rest.is_empty() { String::new() } else { format!("?{}", rest.join("&")) };
    let options = TlsOptions::of(mode.as_deref(), roots.as_deref())?;
    Ok((format!("{address}{query}"), Some(options)))
}

/// Decodes a value of a URL.
fn decoded(value: &str) -> Result<String, AnyError> {
    Ok(percent_decode_str(value).decode_utf8()?.into_owned())
}

impl TlsOptions {
    /// Returns what `sslmode` and `sslrootcert` ask for.
    fn of(mode: Option<&str>, roots: Option<&str>) -> Result<Self, AnyError> {
        let file = roots.filter(|roots| *roots != "system");
        let (mode, check) = match mode.unwrap_or("prefer") {
            "disable" => (SslMode::Disable, CertificateCheck::Nothing),
            // Certificates are not checked: who can replace one can also say that there is no TLS.
            "prefer" => (SslMode::Prefer, CertificateCheck::Nothing),
            "require" if file.is_some() => (SslMode::Require, CertificateCheck::Issuer),
            "require" => (SslMode::Require, CertificateCheck::Nothing),
            "verify-ca" => (SslMode::Require, CertificateCheck::Issuer),
            "verify-full" => (SslMode::Require, CertificateCheck::IssuerAndName),
            other => {
                let known = "`disable`, `prefer`, `require`, `verify-ca` or `verify-full`";
                return Err(format!("unknown `sslmode={other}`: use {known}").into());
            }
        };
        match (check, roots) {
            (CertificateCheck::Nothing, Some(_)) => {
                Err("`sslrootcert` needs an `sslmode` that checks certificates, such as \
                     `verify-full`"
                    .into())
            }
            // Everybody can have a certificate of one of the machine's authorities.
            (CertificateCheck::Issuer, _) if file.is_none() => {
                Err("`sslmode=verify-ca` needs `sslrootcert=FILE`; or use `verify-full`".into())
            }
            _ => Ok(Self { mode, check, roots: file.map(PathBuf::from) }),
        }
    }
}

/// Returns a client that checks certificates against those in a file, or against the machine's.
fn client(check: CertificateCheck, roots: Option<&Path>) -> Result<ClientConfig, AnyError> {
    let provider = Arc::new(ring::default_provider());
    let algorithms = provider.signature_verification_algorithms;
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let trusted = match (check, roots) {
        (CertificateCheck::Nothing, _) => Vec::new(),
        (_, Some(roots)) => certificates(roots)?,
        (_, None) => return Ok(builder.with_platform_verifier()?.with_no_client_auth()),
    };
    let mut roots = RootCertStore::empty();
    for certificate in &trusted {
        roots.add(certificate.clone())?;
    }
    let verifier = Arc::new(Verifier { check, trusted, roots, algorithms });
    Ok(builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth())
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, AnyError> {
    let unusable =
        |why: &dyn Error| format!("cannot read certificates from {}: {why}", path.display());
    let found = CertificateDer::pem_file_iter(path).map_err(|error| unusable(&error))?;
    let found: Result<Vec<_>, _> = found.collect();
    let found = found.map_err(|error| unusable(&error))?;
    if found.is_empty() {
        return Err(format!("there is no certificate in {}", path.display()).into());
    }
    Ok(found)
}

/// Checks certificates as far as an address asks for it.
#[derive(Debug)]
struct Verifier {
    check: CertificateCheck,
    /// A server may use one of these itself, even one that is meant for an authority.
    trusted: Vec<CertificateDer<'static>>,
    roots: RootCertStore,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        server: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if self.check != CertificateCheck::Nothing {
            let parsed = ParsedCertificate::try_from(certificate)?;
            if !self.trusted.contains(certificate) {
                let algorithms = self.algorithms.all;
                verify_server_cert_signed_by_trust_anchor(
                    &parsed,
                    &self.roots,
                    chain,
                    now,
                    algorithms,
                )?;
            }
            if self.check == CertificateCheck::IssuerAndName {
                verify_server_name(&parsed, server)?;
            }
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        if self.check == CertificateCheck::Nothing {
            return Ok(HandshakeSignatureValid::assertion());
        }
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        if self.check == CertificateCheck::Nothing {
            return Ok(HandshakeSignatureValid::assertion());
        }
        verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// Returns what to do about an error if a certificate is the reason.
pub(super) fn advice(error: &(dyn Error + 'static)) -> Option<&'static str> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        // An error of input and output does not count what it wraps among its causes.
        let mut inner = error;
        while let Some(wrapped) = inner.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            inner = wrapped;
        }
        if let Some(rustls::Error::InvalidCertificate(why)) = inner.downcast_ref() {
            let misnamed = matches!(
                why,
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. }
            );
            return Some(if misnamed { MISNAMED } else { UNTRUSTED });
        }
        cause = error.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(mode: SslMode, check: CertificateCheck, roots: Option<&str>) -> TlsOptions {
        TlsOptions { mode, check, roots: roots.map(PathBuf::from) }
    }

    #[test]
    fn modes_mean_what_they_mean_to_postgresql() {
        use CertificateCheck::{Issuer, IssuerAndName, Nothing};
        for (query, rest, wants) in [
            ("", "", options(SslMode::Prefer, Nothing, None)),
            ("?sslmode=disable", "", options(SslMode::Disable, Nothing, None)),
            ("?sslmode=prefer&port=7", "?port=7", options(SslMode::Prefer, Nothing, None)),
            ("?port=7&sslmode=require", "?port=7", options(SslMode::Require, Nothing, None)),
            (
                "?sslmode=require&sslrootcert=%2Fa%20b.pem",
                "",
                options(SslMode::Require, Issuer, Some("/a b.pem")),
            ),
            (
                "?sslrootcert=a.pem&sslmode=verify-ca",
                "",
                options(SslMode::Require, Issuer, Some("a.pem")),
            ),
            ("?sslmode=verify-full", "", options(SslMode::Require, IssuerAndName, None)),
            (
                "?sslmode=verify-full&sslrootcert=system",
                "",
                options(SslMode::Require, IssuerAndName, None),
            ),
        ] {
            let split = split(&format!("postgres://u:?x@host/db{query}")).expect("it is read");
            assert_eq!(split, (format!("postgres://u:?x@host/db{rest}"), Some(wants)), "{query}");
        }
    }

    #[test]
    fn mode_that_cannot_keep_its_promise_is_refused() {
        for (query, says) in [
            ("sslmode=allow", "unknown `sslmode=allow`"),
            ("sslmode=verify-ca", "needs `sslrootcert=FILE`"),
            ("sslmode=verify-ca&sslrootcert=system", "needs `sslrootcert=FILE`"),
            ("sslrootcert=a.pem", "such as `verify-full`"),
            ("sslmode=verify-full&sslrootcert=/no/such/file.pem", "/no/such/file.pem"),
        ] {
            let why = read(&format!("postgres://host/db?{query}")).expect_err("it is refused");
            assert!(why.to_string().contains(says), "{query}: {why}");
        }
    }
}
