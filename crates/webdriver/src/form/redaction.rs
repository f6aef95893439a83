//! Hides values in what a page says, also where the page writes them in another way.
//!
//! It finds other cases and gaps, invisible characters, URL and HTML escapes, base64, reversed
//! text, and spelled-out e-mail addresses. A hostile page can still write a value in a way that is
//! not found.

use std::ops::Range;

use pointsman_agents::form::is_unseen;

/// The replacement for a typed value.
pub(super) const HIDDEN: &str = "[hidden]";
/// Shorter values without a gap or a sign are hidden only as whole words: hiding `red` in
/// `answered` would reveal it.
const WORD: usize = 8;
/// Shorter values are not looked for in other spellings.
const SPELLED: usize = 6;
/// The fewest digits of a number that is recognised in any grouping.
const DIGITS: usize = 6;
/// The shortest text that may be base64 of a value.
const ENCODED: usize = 8;

/// A normalised character, and its bytes in the text.
type Sign = (char, Range<usize>);

/// Returns words without these values.
pub(super) fn hidden(words: &str, values: &[String]) -> String {
    let mut found = places(words, values);
    for token in encoded(words) {
        let text = words.get(token.clone()).and_then(decoded);
        if text.is_some_and(|text| !places(&text, values).is_empty()) {
            found.push(token);
        }
    }
    found.sort_by_key(|place| place.start);
    let mut left = String::with_capacity(words.len());
    let mut at = 0;
    for place in found {
        if place.start >= at {
            left.push_str(words.get(at..place.start).unwrap_or_default());
            left.push_str(HIDDEN);
        }
        at = at.max(place.end);
    }
    left.push_str(words.get(at..).unwrap_or_default());
    left
}

/// Returns where values stand, in any of their spellings.
fn places(words: &str, values: &[String]) -> Vec<Range<usize>> {
    let signs = signs(words);
    let bare: Vec<Sign> = signs.iter().filter(|(sign, _)| !groups(*sign)).cloned().collect();
    let mut found = Vec::new();
    for value in values {
        for spelled in spellings(value) {
            let wanted: Vec<char> =
                self::signs(&spelled).into_iter().map(|(sign, _)| sign).collect();
            find(&signs, &wanted, is_word(&spelled), &mut found);
        }
        if value.chars().filter(char::is_ascii_digit).count() >= DIGITS {
            let wanted = self::signs(value).into_iter().map(|(sign, _)| sign);
            let wanted: Vec<char> = wanted.filter(|sign| !groups(*sign)).collect();
            find(&bare, &wanted, false, &mut found);
        }
    }
    found
}

/// Finds a value, as a whole word if required.
fn find(signs: &[Sign], wanted: &[char], alone: bool, found: &mut Vec<Range<usize>>) {
    let Some(last) = wanted.len().checked_sub(1) else { return };
    for (start, window) in signs.windows(wanted.len()).enumerate() {
        let same = window.iter().map(|(sign, _)| sign).eq(wanted);
        let joins = |at: Option<usize>| {
            let sign = at.and_then(|at| signs.get(at)).map(|(sign, _)| *sign);
            sign.is_some_and(|sign| sign.is_alphanumeric() && parts_words(sign))
        };
        let free = !joins(start.checked_sub(1)) && !joins(start.checked_add(wanted.len()));
        if same
            && (!alone || free)
            && let (Some((_, first)), Some((_, end))) = (window.first(), window.get(last))
        {
            found.push(first.start..end.end);
        }
    }
}

/// Returns whether a value is one short word.
fn is_word(value: &str) -> bool {
    value.chars().count() < WORD && value.chars().all(char::is_alphanumeric)
}

/// Returns whether a script parts its words by gaps.
const fn parts_words(sign: char) -> bool {
    !matches!(sign, '\u{e00}'..='\u{eff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// Returns whether a character only groups the digits of a number.
const fn groups(sign: char) -> bool {
    matches!(sign, ' ' | '-' | '.' | '/' | '(' | ')' | '+')
}

/// Returns a value as pages write it.
fn spellings(value: &str) -> Vec<String> {
    let value = value.trim();
    let mut all = vec![value.to_owned()];
    if value.chars().count() < SPELLED {
        return all;
    }
    all.push(value.chars().rev().collect());
    if value.contains(' ') {
        all.push(value.replace(' ', "+"));
    }
    if let Some((name, host)) = value.split_once('@') {
        for at in [" at ", "(at)", "[at]", " (at) ", " [at] ", " @ "] {
            all.push(format!("{name}{at}{host}"));
            all.push(format!("{}{at}{}", name.replace('.', " dot "), host.replace('.', " dot ")));
        }
    }
    all
}

/// Normalises a text: without case, with one space for every gap, without invisible characters,
/// and with escapes resolved.
fn signs(text: &str) -> Vec<Sign> {
    let mut signs: Vec<Sign> = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let (sign, length) = escape(rest).unwrap_or_else(|| {
            let first = rest.chars().next().unwrap_or_default();
            (first, first.len_utf8().max(1))
        });
        let place = at..at + length;
        at += length;
        if is_unseen(sign) {
            continue;
        }
        if sign.is_whitespace() {
            match signs.last_mut() {
                Some((' ', before)) => before.end = place.end,
                _ => signs.push((' ', place)),
            }
            continue;
        }
        signs.extend(sign.to_lowercase().map(|lower| (lower, place.clone())));
    }
    signs
}

/// Reads an escape of an address or of HTML, and how many bytes it takes.
fn escape(text: &str) -> Option<(char, usize)> {
    if text.starts_with('%') {
        return percent(text);
    }
    let (name, _) = text.strip_prefix('&')?.split_once(';').filter(|(name, _)| name.len() <= 10)?;
    let number =
        |digits: &str, radix| u32::from_str_radix(digits, radix).ok().and_then(char::from_u32);
    let sign = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        "commat" => '@',
        "period" => '.',
        _ => {
            let digits = name.strip_prefix('#')?;
            match digits.strip_prefix(['x', 'X']) {
                Some(hex) => number(hex, 16)?,
                None => number(digits, 10)?,
            }
        }
    };
    Some((sign, name.len() + 2))
}

/// Reads one character that an address writes as `%` and two digits for each byte.
fn percent(text: &str) -> Option<(char, usize)> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while bytes.len() < 4 {
        let digits = rest.strip_prefix('%')?.get(..2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = rest.get(3..)?;
        if let Ok(read) = std::str::from_utf8(&bytes) {
            return read.chars().next().map(|sign| (sign, bytes.len() * 3));
        }
    }
    None
}

/// Returns the runs of a text that could be base64.
fn encoded(text: &str) -> Vec<Range<usize>> {
    let is_in = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_');
    let mut runs = Vec::new();
    let mut start = None;
    for (at, sign) in text.char_indices().chain([(text.len(), ' ')]) {
        match (start, is_in(sign)) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                // What fills the last group up belongs to it.
                let filled = text.get(at..).unwrap_or_default().chars().take_while(|c| *c == '=');
                let end = at + filled.take(2).count();
                if at - from >= ENCODED {
                    runs.push(from..end);
                }
                start = None;
            }
            (None, false) | (Some(_), true) => {}
        }
    }
    runs
}

/// Reads base64, of addresses too.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0_u32, 0_u32);
    for sign in text.trim_end_matches('=').bytes() {
        let six = match sign {
            b'A'..=b'Z' => sign - b'A',
            b'a'..=b'z' => sign - b'a' + 26,
            b'0'..=b'9' => sign - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(six);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from((bits >> held) & 0xff).unwrap_or_default());
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hide(words: &str, values: &[&str]) -> String {
        hidden(words, &values.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn values_are_hidden_in_any_case() {
        let values = ["Ada Lovelace", "Größe"];
        let seen = "Dear ADA LOVELACE, your größe and ada  lovelace: Ada";
        assert_eq!(hide(seen, &values), "Dear [hidden], your [hidden] and [hidden]: Ada");
        assert_eq!(hide("", &values), "");
    }

    #[test]
    fn short_values_are_hidden_as_words_of_their_own_alone() {
        let told = "the site answered with HTTP 500";
        assert_eq!(hide(told, &["red"]), told, "else the rest would tell what is hidden");
        assert_eq!(
            hide("Red, red! (red) redder", &["red"]),
            "[hidden], [hidden]! ([hidden]) redder"
        );
        assert_eq!(hide("ADA in Canada, xAdax", &["Ada"]), "[hidden] in Canada, xAdax");
        assert_eq!(hide("HTTP 500 and 1500", &["500"]), "HTTP [hidden] and 1500");
        assert_eq!(hide("x1985-02-03x", &["1985-02-03"]), "x[hidden]x");
        // Some scripts do not part their words.
        assert_eq!(hide("山田花子様", &["山田花子"]), "[hidden]様");
        assert_eq!(hide("xAda Lovelacex", &["Ada Lovelace", "Ada"]), "x[hidden]x");
    }

    #[test]
    fn values_are_hidden_however_they_are_written() {
        let mail = "zq.secret@plant.example";
        for spelled in [
            "z\u{200b}q.sec\u{ad}ret@plant.example",
            "ZQ.SECRET@PLANT.EXAMPLE",
            "zq.secret%40plant.example",
            "zq.secret&#64;plant.example",
            "zq.secret&#x40;plant&period;example",
            "zq.secret at plant.example",
            "zq.secret [at] plant.example",
            "zq dot secret at plant dot example",
            "elpmaxe.tnalp@terces.qz",
            "enEuc2VjcmV0QHBsYW50LmV4YW1wbGU=",
            "enEuc2VjcmV0QHBsYW50LmV4YW1wbGU",
        ] {
            let told = hide(&format!("Thanks, {spelled}!"), &[mail]);
            assert_eq!(told, "Thanks, [hidden]!", "{spelled}");
        }
        let name = "Ada Größe";
        for spelled in ["ada%20gr%C3%B6%C3%9Fe", "Ada+Größe", "Ada \n Größe", "Ada&nbsp;Größe"]
        {
            assert_eq!(hide(&format!("<{spelled}>"), &[name]), "<[hidden]>", "{spelled}");
        }
        let phone = "+44 20 7946 0123";
        for spelled in ["442079460123", "44-20-7946-0123", "44.20.7946.0123"] {
            assert_eq!(hide(&format!("tel {spelled}."), &[phone]), "tel [hidden].", "{spelled}");
        }
        // Inside a longer text that is encoded as a whole, all of that is hidden.
        let told = hide("token dXNlcj16cS5zZWNyZXRAcGxhbnQuZXhhbXBsZSZhPTE= ok", &[mail]);
        assert_eq!(told, "token [hidden] ok");
    }

    #[test]
    fn text_without_values_is_unchanged() {
        for words in ["100% of & and &; %zz &#x; &#99999999;", "aGVsbG8gd29ybGQ=", "größer als"] {
            assert_eq!(hide(words, &["Ada Lovelace", "Größe", "hunter2hunter2"]), words);
        }
    }
}
