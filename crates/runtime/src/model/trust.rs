//! Why no TLS connection to a server came about, and what a person can do about it.
//!
//! A certificate that is refused, and a server that does not speak TLS, are the same at
//! the next attempt: such an error ends the call.

use std::{error::Error, io};

use pointsman_kernel::agent::FaultClass;
use rustls::{AlertDescription, CertificateError, InvalidMessage};

use crate::clock::written;

/// How many names of a certificate to show.
const NAMES: usize = 5;

/// What to do for a certificate whose signer is not known.
const SIGNER: &str = "if you trust it, add its issuer's certificate to the system's CA \
                      certificates, or set SSL_CERT_FILE to a PEM file that contains it (the \
                      file replaces the system's certificates)";

/// Words an error of TLS that no further attempt can change. `place` is the server, and
/// `host` its name.
pub(super) fn refused(
    place: &str,
    host: &str,
    cause: &(dyn Error + 'static),
) -> Option<(FaultClass, String)> {
    let error = tls(cause)?;
    let message = match error {
        rustls::Error::InvalidCertificate(why) => {
            let message = format!("{place} is not trusted: its certificate {}", bad(why, host));
            return Some((FaultClass::Forbidden, message));
        }
        rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
            let plain = place.replacen("https://", "http://", 1);
            format!(
                "{place} does not speak TLS; if the server speaks plain HTTP, set the base \
                 URL to {plain}, otherwise check the port"
            )
        }
        rustls::Error::PeerIncompatible(_)
        | rustls::Error::AlertReceived(
            AlertDescription::ProtocolVersion | AlertDescription::HandshakeFailure,
        ) => format!(
            "{place} offers no usable TLS version or cipher ({error}); the server \
             must speak TLS 1.2 or 1.3"
        ),
        rustls::Error::AlertReceived(AlertDescription::CertificateRequired) => {
            format!("{place} requires a client certificate, which is not supported")
        }
        _ => return None,
    };
    Some((FaultClass::Contract, message))
}

/// Finds the error of TLS: an error of input and output does not count what it wraps among
/// its causes.
fn tls<'e>(mut cause: &'e (dyn Error + 'static)) -> Option<&'e rustls::Error> {
    while let Some(inner) = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        cause = inner;
    }
    cause.downcast_ref()
}

/// Explains a certificate's error and its remedy.
fn bad(why: &CertificateError, host: &str) -> String {
    let renew = "renew it on the server, or check the clock of this machine";
    match why {
        CertificateError::ExpiredContext { not_after, .. } => {
            let day = written(not_after.as_secs().saturating_mul(1_000));
            format!("expired on {day}; {renew}")
        }
        CertificateError::Expired => format!("has expired; {renew}"),
        CertificateError::NotValidYetContext { not_before, .. } => {
            let day = written(not_before.as_secs().saturating_mul(1_000));
            format!("is not valid before {day}; check the clock of this machine")
        }
        CertificateError::NotValidYet => "is not valid yet; check the clock of this machine".into(),
        CertificateError::NotValidForNameContext { presented, .. } => {
            let names = names(presented);
            format!(
                "is not for `{host}`, but for {names}; in the base URL, use a name that the \
                 certificate lists, or give the server a certificate for `{host}`"
            )
        }
        CertificateError::NotValidForName => format!(
            "is not for `{host}`; in the base URL, use a name that the certificate lists, or \
             give the server a certificate for `{host}`"
        ),
        CertificateError::UnknownIssuer => {
            format!("is self-signed or signed by an unknown CA; {SIGNER}")
        }
        CertificateError::Revoked => "was revoked; the server needs a new one".into(),
        // The library that checks certificates has no public name for this one.
        other if format!("{other:?}").contains("CaUsedAsEndEntity") => {
            "is a CA certificate, which a server must not use; create one for the server without `CA:TRUE` (`openssl req -x509 -addext basicConstraints=critical,CA:FALSE`), and \
             trust that one"
                .into()
        }
        other => format!("cannot be verified ({other}); the server needs another one"),
    }
}

/// Lists the names of a certificate, which are given as `DnsName("box.example")`.
fn names(presented: &[String]) -> String {
    let plain = |name: &String| {
        let quoted = name.split_once('"').and_then(|(_, rest)| rest.rsplit_once('"'));
        format!("`{}`", quoted.map_or(name.as_str(), |(name, _)| name))
    };
    let more = presented.len().saturating_sub(NAMES);
    let mut names: Vec<String> = presented.iter().take(NAMES).map(plain).collect();
    match (names.is_empty(), more) {
        (true, _) => return "no name at all".into(),
        (false, 0) => {}
        (false, more) => names.push(format!("{more} more")),
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::pki_types::{ServerName, UnixTime};
    use std::time::Duration;

    fn told(error: rustls::Error) -> Option<(FaultClass, String)> {
        let wrapped = io::Error::other(io::Error::other(error));
        refused("https://box.example:8443", "box.example", &wrapped)
    }

    fn certificate(why: CertificateError) -> String {
        let (class, message) = told(why.into()).expect("it is an error of TLS");
        assert_eq!(class, FaultClass::Forbidden, "{message}");
        assert!(message.starts_with("https://box.example:8443 is not trusted: "), "{message}");
        message
    }

    #[test]
    fn every_certificate_error_says_what_to_do() {
        let at = |secs| UnixTime::since_unix_epoch(Duration::from_secs(secs));
        let expired = CertificateError::ExpiredContext { time: at(2), not_after: at(951_782_400) };
        assert!(certificate(expired).contains("expired on 2000-02-29T00:00:00Z; renew it"));
        let early =
            CertificateError::NotValidYetContext { time: at(2), not_before: at(951_782_400) };
        assert!(
            certificate(early).contains("not valid before 2000-02-29T00:00:00Z; check the clock")
        );
        let presented = (0..7).map(|at| format!("DnsName(\"box{at}.example\")")).collect();
        let expected = ServerName::try_from("box.example").expect("a name");
        let other = certificate(CertificateError::NotValidForNameContext { expected, presented });
        assert!(other.contains("not for `box.example`, but for `box0.example`, "), "{other}");
        assert!(other.contains("`box4.example`, 2 more; in the base URL, use a name"), "{other}");
        assert!(certificate(CertificateError::UnknownIssuer).contains("SSL_CERT_FILE"));
        assert!(certificate(CertificateError::BadEncoding).contains("needs another one"));
    }

    #[test]
    fn temporary_tls_errors_are_left_to_the_next_attempt() {
        for error in [
            rustls::Error::AlertReceived(AlertDescription::InternalError),
            rustls::Error::InvalidMessage(InvalidMessage::MissingData("x")),
            rustls::Error::DecryptError,
        ] {
            assert_eq!(told(error.clone()), None, "{error}");
        }
        assert_eq!(refused("https://x", "x", &io::Error::other("reset")), None);
        let plain =
            told(InvalidMessage::InvalidContentType.into()).expect("the fault has a message");
        assert_eq!(plain.0, FaultClass::Contract);
        assert!(plain.1.contains("set the base URL to http://box.example:8443"), "{}", plain.1);
    }
}
