//! Detecting that a page has stopped changing, and identifying it.

use std::{collections::BTreeSet, sync::LazyLock, time::Duration};

use pointsman_agents::form::{Field, PageReader, PageReading};
use pointsman_kernel::id::Digest;
use pointsman_runtime::clock::Stopwatch;
use reqwest::Url;
use serde::Deserialize;

use super::{Browser, BrowserError, snapshot::SnapshotResult};

/// How many fields to name if a page keeps changing.
const NAMED: usize = 4;
/// Made once: that takes longer than reading a page.
static READER: LazyLock<PageReader> = LazyLock::new(PageReader::default);

/// A page that has stopped changing.
#[derive(Clone, Debug, PartialEq)]
pub struct StablePage {
    /// Its address.
    pub url: String,
    /// Scheme, host and port.
    pub origin: String,
    /// Its title.
    pub title: String,
    /// Its identity: origin, path, and the visible fields; not their values.
    pub fingerprint: String,
    /// What it shows.
    pub reading: PageReading,
    /// Its document: a reloaded one is another.
    pub document: f64,
    /// The HTTP status that the document came with, where the browser knows it.
    pub status: Option<u16>,
}

/// How a document stands.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub(super) struct DocumentState {
    pub(super) url: String,
    pub(super) document: f64,
}

impl Browser {
    /// Waits until the page stops changing: its document is loaded, no navigation is pending, and
    /// two readings are equal.
    pub async fn settle(&self, within: Duration) -> Result<StablePage, BrowserError> {
        let begun = Stopwatch::start();
        let mut before: Option<StablePage> = None;
        // Since when it has stood still.
        let mut bare = Stopwatch::start();
        let mut changing = "it never appeared".to_owned();
        loop {
            let seen = match self.seen(begun.elapsed()).await {
                Ok(seen) => seen,
                // It went away while it was looked at, and that is change enough.
                Err(BrowserError::Refused { why }) => Err(why),
                Err(error) => return Err(error),
            };
            match seen {
                Ok(now) => {
                    match before.as_ref().map(|before| differs(before, &now)) {
                        // Some pages show their form only after a while.
                        Some(None)
                            if now.reading.fields.is_empty()
                                && bare.elapsed() < self.settings.bare => {}
                        Some(None) => {
                            self.at_rest();
                            return Ok(now);
                        }
                        Some(Some(what)) => {
                            changing = what;
                            bare = Stopwatch::start();
                        }
                        None => bare = Stopwatch::start(),
                    }
                    before = Some(now);
                }
                Err(why) => {
                    changing = why;
                    before = None;
                }
            }
            if begun.elapsed() > within {
                return Err(BrowserError::Restless { within, changing });
            }
            tokio::time::sleep(self.settings.still).await;
        }
    }

    /// Looks at the page as it is now, or tells why it is none yet.
    async fn seen(&self, waited: Duration) -> Result<Result<StablePage, String>, BrowserError> {
        let (ready, stand) = self.stand().await?;
        let there = match ready.as_str() {
            "complete" => true,
            // An image that never loads is not waited for.
            "interactive" => waited > self.settings.parts,
            _ => false,
        };
        // The driver reports no error for some addresses: the browser then shows its own error
        // page.
        if there && stand.url.starts_with("chrome-error:") {
            let why = "the browser shows an error page".into();
            return Err(BrowserError::Address { url: "the page".into(), why });
        }
        Ok(if there { Ok(stand) } else { Err("its document did not finish loading".into()) })
    }

    async fn stand(&self) -> Result<(String, StablePage), BrowserError> {
        let SnapshotResult { sighting, ready, document, status } = self.look_at_all().await?;
        self.looked(&sighting);
        let reading = READER.read(&sighting);
        let fingerprint = fingerprint(&sighting.origin, &sighting.url, &reading.fields);
        let (url, origin, title) = (sighting.url, sighting.origin, sighting.title);
        let status = Some(status).filter(|status| *status > 0);
        Ok((ready, StablePage { url, origin, title, fingerprint, reading, document, status }))
    }

    /// Looks at the page as it is at this moment.
    pub async fn now(&self) -> Result<StablePage, BrowserError> {
        self.stand().await.map(|(_, stand)| stand)
    }
}

/// Returns what a page is known by.
fn fingerprint(origin: &str, url: &str, fields: &[Field]) -> String {
    let path = Url::parse(url).map(|url| url.path().to_owned()).unwrap_or_default();
    let fields: BTreeSet<String> = fields.iter().map(sign).collect();
    let mut all = format!("{origin}\n{path}");
    for field in fields {
        all.push('\n');
        all.push_str(&field);
    }
    Digest::of(all.as_bytes()).to_string().chars().take(32).collect()
}

fn sign(field: &Field) -> String {
    format!("{} {} {:?}", field.selector, field.shape, field.fill)
}

/// Returns the difference between two readings.
fn differs(before: &StablePage, now: &StablePage) -> Option<String> {
    if before.url != now.url {
        // What follows the path may hold what was typed.
        let path = |url: &str| url.split(['?', '#']).next().unwrap_or_default().to_owned();
        return Some(format!("it navigated from {} to {}", path(&before.url), path(&now.url)));
    }
    if (before.document - now.document).abs() > 0.0 {
        return Some("it keeps reloading".into());
    }
    if before.fingerprint == now.fingerprint && before.reading.signature == now.reading.signature {
        return None;
    }
    let signs = |stand: &StablePage| stand.reading.fields.iter().map(sign).collect::<BTreeSet<_>>();
    let (old, new) = (signs(before), signs(now));
    let moved: Vec<&str> = old
        .symmetric_difference(&new)
        .filter_map(|sign| sign.split(' ').next())
        .take(NAMED)
        .collect();
    Some(format!("its fields kept changing ({})", moved.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(selector: &str, value: &str) -> Field {
        Field { selector: selector.into(), value: Some(value.into()), ..Field::default() }
    }

    #[test]
    fn page_identity_depends_on_fields_not_values() {
        let known = |url: &str, fields: &[Field]| fingerprint("http://a", url, fields);
        let one = known("http://a/x?q=1", &[field("#a", ""), field("#b", "")]);
        assert_eq!(one, known("http://a/x?q=2", &[field("#b", "1"), field("#a", "2")]));
        assert_ne!(one, known("http://a/y", &[field("#a", ""), field("#b", "")]));
        assert_ne!(one, known("http://a/x", &[field("#a", "")]));
        assert_ne!(one, fingerprint("http://b", "http://b/x", &[field("#a", ""), field("#b", "")]));
    }
}
