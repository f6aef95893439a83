//! Which pages are of one site, so that none is learnt from and judged on.

use std::collections::BTreeMap;

use crate::data::Page;

/// A brand so short says nothing when a title holds it.
const SHORT: usize = 5;

/// Gives pages of one site the same number: by the brand in the host's name or in the
/// file's, by the title, and by a brand that a title holds.
pub(crate) fn number(pages: &mut [Page], hosts: &[String]) {
    let mut joined: Vec<usize> = (0..pages.len()).collect();
    let mut first: BTreeMap<String, usize> = BTreeMap::new();
    let brands: Vec<Option<String>> =
        pages.iter().zip(hosts).map(|(page, host)| brand_of(page, host)).collect();
    let titles: Vec<String> = pages.iter().map(|page| solid(&page.sighting.title)).collect();
    for (at, (brand, title)) in brands.iter().zip(&titles).enumerate() {
        let brand = brand.as_ref().map(|brand| format!("brand {brand}"));
        let title = Some(title).filter(|title| !title.is_empty());
        let title = title.map(|title| format!("title {title}"));
        for key in brand.into_iter().chain(title) {
            let other = *first.entry(key).or_insert(at);
            join(&mut joined, at, other);
        }
    }
    for (at, brand) in brands.iter().enumerate() {
        let Some(brand) = brand.as_ref().filter(|brand| brand.len() >= SHORT) else { continue };
        for (other, title) in titles.iter().enumerate() {
            if title.contains(brand.as_str()) {
                join(&mut joined, at, other);
            }
        }
    }
    for (at, page) in pages.iter_mut().enumerate() {
        page.site = root(&joined, at);
    }
}

fn root(joined: &[usize], mut at: usize) -> usize {
    while joined[at] != at {
        at = joined[at];
    }
    at
}

fn join(joined: &mut [usize], one: usize, other: usize) {
    let (one, other) = (root(joined, one), root(joined, other));
    joined[one.max(other)] = one.min(other);
}

/// Returns the brand of a page's site; nothing where neither host nor file names one.
fn brand_of(page: &Page, url: &str) -> Option<String> {
    let host = url.split("://").nth(1).and_then(|rest| rest.split('/').next());
    if let Some(host) = host {
        return Some(brand(host));
    }
    let stem = page.file.rsplit('/').next()?.trim_end_matches(".html");
    match page.source.as_str() {
        "ddg" => stem.split('_').next().map(solid),
        "formasaurus" => None,
        _ if stem.starts_with("00_i18n") => Some("i18n".into()),
        _ => {
            let last = stem.rsplit('_').next()?;
            if last.contains('.') {
                return Some(brand(last));
            }
            // Pages of one site are numbered `B12a` and `B12b`.
            let code = last.trim_end_matches(|c: char| c.is_ascii_lowercase());
            let numbered = !code.is_empty() && code.len() < last.len();
            Some(solid(if numbered { code } else { last }))
        }
    }
}

/// Returns the word of a host's name that stands before its public ending.
fn brand(host: &str) -> String {
    let words: Vec<&str> = host.split('.').collect();
    let mut at = words.len().saturating_sub(2);
    let general = |word: &str| matches!(word, "co" | "com" | "org" | "net" | "gov" | "ac" | "edu");
    if at > 0 && words.get(at).is_some_and(|word| general(word)) {
        at -= 1;
    }
    words.get(at).copied().map(solid).unwrap_or_default()
}

/// Returns a text's letters and digits in lower case.
fn solid(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
