//! Values that are typed into a line or into lines.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{
    UnfitValue, date,
    date::Day,
    pattern,
    place::{self, Phone},
};
use crate::{
    answer::counted,
    form::{
        field::{Field, FieldShape},
        kind::FieldKind,
        text,
    },
};

/// Returns the value as it is typed: of the ways to write it the first that the field's
/// pattern and limits take. Text that means nothing else is cut; a value is not.
pub(super) fn fit(field: &Field, raw: &str, kind: FieldKind) -> Result<String, UnfitValue> {
    let many = matches!(field.shape, FieldShape::Textarea | FieldShape::Richtext);
    let raw = if many { String::from(raw) } else { one_line(raw, kind) };
    let ways = ways(field, &raw, kind);
    if let Some(way) = ways.iter().find(|way| takes(field, way)) {
        return Ok(way.clone());
    }
    let cases = ways.iter().flat_map(|way| [way.to_uppercase(), way.to_lowercase()]);
    if let Some(way) = cases.into_iter().find(|way| takes(field, way)) {
        return Ok(way);
    }
    if kind == FieldKind::None {
        return cut(field, &raw);
    }
    Err(why(field, &ways))
}

/// The lines of an address stand beside each other where there is one line for them.
fn one_line(raw: &str, kind: FieldKind) -> String {
    let between = if matches!(kind, FieldKind::StreetAddress) { ", " } else { " " };
    let lines = raw.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(between)
}

/// Returns the ways of writing a value, the likeliest first.
fn ways(field: &Field, raw: &str, kind: FieldKind) -> Vec<String> {
    let wanted = if field.kind == FieldKind::None { kind } else { field.kind };
    let plain = || Vec::from([raw.to_string()]);
    if kind == FieldKind::None {
        // A person's answer is typed as it is, but for days where the field says how.
        let hinted = [&field.placeholder, &field.label, &field.context];
        let hinted = hinted.into_iter().any(|hint| date::is_hint(hint));
        let day = Day::read(raw).filter(|_| hinted);
        return day.map_or_else(plain, |day| date::lines(field, day));
    }
    if matches!(wanted, FieldKind::Tel | FieldKind::TelNational | FieldKind::TelLocal) {
        Phone::read(raw).map_or_else(plain, |phone| phone.lines(field, raw))
    } else if wanted == FieldKind::TelCountryCode {
        let digits: String = raw.chars().filter(char::is_ascii_digit).collect();
        Vec::from([format!("+{digits}"), digits.clone(), format!("00{digits}")])
    } else if wanted == FieldKind::Bday {
        Day::read(raw).map_or_else(plain, |day| date::lines(field, day))
    } else if matches!(wanted, FieldKind::BdayDay | FieldKind::BdayMonth | FieldKind::CcExpMonth) {
        numbers(field, raw, wanted)
    } else if matches!(wanted, FieldKind::BdayYear | FieldKind::CcExpYear) {
        years(field, raw)
    } else if wanted == FieldKind::CcExp {
        expiries(field, raw)
    } else if matches!(wanted, FieldKind::CcNumber | FieldKind::CcCsc) {
        card(field, raw)
    } else if matches!(wanted, FieldKind::Country | FieldKind::CountryName) {
        countries(field, raw, wanted)
    } else if wanted == FieldKind::AddressLevel1 {
        let mut all = plain();
        all.extend(place::state_words(raw).into_iter().map(String::from));
        all
    } else if wanted == FieldKind::PostalCode {
        let bare: String = raw.chars().filter(|c| c.is_alphanumeric()).collect();
        let first = raw.split(['-', ' ']).next().unwrap_or(raw).to_string();
        Vec::from([raw.to_string(), bare, first])
    } else if wanted == FieldKind::Url {
        let secure = format!("https://{raw}");
        if raw.contains("://") { plain() } else { Vec::from([secure, raw.to_string()]) }
    } else if matches!(
        wanted,
        FieldKind::AdditionalName | FieldKind::GivenName | FieldKind::FamilyName
    ) {
        let initial = raw.chars().next().map(String::from);
        let fits = field.limits.chars.is_some_and(|chars| chars <= 2);
        plain().into_iter().chain(initial.filter(|_| fits)).collect()
    } else {
        plain()
    }
}

fn hint(field: &Field) -> String {
    format!("{} {}", field.placeholder, field.label).to_lowercase()
}

fn numbers(field: &Field, raw: &str, kind: FieldKind) -> Vec<String> {
    let Some(number) = raw.trim().parse::<u8>().ok().or_else(|| super::word::month(raw)) else {
        return Vec::from([raw.to_string()]);
    };
    let (long, short) = (format!("{number:02}"), format!("{number}"));
    let hint = hint(field);
    let padded = kind == FieldKind::CcExpMonth
        || ["dd", "mm", "tt", "jj", "gg"].iter().any(|it| hint.contains(it))
        || field.placeholder.starts_with('0');
    let mut ways = if padded { Vec::from([long, short]) } else { Vec::from([short, long]) };
    if kind == FieldKind::BdayMonth {
        ways.push(super::word::month_name(number).into());
    }
    ways
}

fn years(field: &Field, raw: &str) -> Vec<String> {
    let Ok(year) = raw.trim().parse::<u16>() else { return Vec::from([raw.to_string()]) };
    let long = if year < 100 { year.saturating_add(2000) } else { year };
    let short = format!("{:02}", long.wrapping_rem(100));
    let hint = hint(field);
    let two = ["yy", "jj", "aa"].iter().any(|it| hint.contains(it))
        && !["yyyy", "jjjj", "aaaa"].iter().any(|it| hint.contains(it));
    if two { Vec::from([short, format!("{long}")]) } else { Vec::from([format!("{long}"), short]) }
}

fn expiries(field: &Field, raw: &str) -> Vec<String> {
    let Some((month, year)) = date::expiry(raw) else { return Vec::from([raw.to_string()]) };
    let two = year.wrapping_rem(100);
    let hint = hint(field);
    let spaced = hint.contains("mm / yy");
    let short =
        if spaced { format!("{month:02} / {two:02}") } else { format!("{month:02}/{two:02}") };
    let long = if spaced { format!("{month:02} / {year}") } else { format!("{month:02}/{year}") };
    let four = ["yyyy", "jjjj", "aaaa"].iter().any(|it| hint.contains(it));
    let (first, second) = if four { (long, short) } else { (short, long) };
    let more = [
        format!("{month:02}{two:02}"),
        format!("{month:02}{year}"),
        format!("{month:02}-{two:02}"),
        format!("{month:02}-{year}"),
        format!("{year}-{month:02}"),
    ];
    [first, second].into_iter().chain(more).collect()
}

fn card(field: &Field, raw: &str) -> Vec<String> {
    let digits: String = raw.chars().filter(char::is_ascii_digit).collect();
    let mut spaced = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && at.is_multiple_of(4) {
            spaced.push(' ');
        }
        spaced.push(digit);
    }
    let groups = field.placeholder.trim().contains(' ')
        && field.placeholder.chars().any(|c| c.is_ascii_digit());
    if groups { Vec::from([spaced, digits]) } else { Vec::from([digits, spaced]) }
}

fn countries(field: &Field, raw: &str, wanted: FieldKind) -> Vec<String> {
    let mut words = place::country_words(raw);
    let asks = field.attributes.get("autocomplete").is_some_and(|it| {
        wanted == FieldKind::Country && it.split_whitespace().any(|token| token == "country")
    });
    // People write names; codes are for fields that ask for them.
    if !asks && words.len() > 1 {
        words.swap(0, 1);
    }
    if words.is_empty() {
        Vec::from([raw.to_string()])
    } else {
        words.into_iter().map(String::from).collect()
    }
}

/// Lengths are counted as browsers do.
fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

fn limit(chars: Option<u32>) -> usize {
    let most = chars.map_or(text::MAX_TYPED, |it| usize::try_from(it).unwrap_or(text::MAX_TYPED));
    most.min(text::MAX_TYPED)
}

fn count_words(text: &str) -> usize {
    text.split_whitespace().count()
}

fn takes(field: &Field, way: &str) -> bool {
    let limits = &field.limits;
    let words = limits
        .words
        .is_none_or(|most| count_words(way) <= usize::try_from(most).unwrap_or(usize::MAX));
    let least = limits.min_chars.map_or(0, |it| usize::try_from(it).unwrap_or(0));
    let fine = length(way) <= limit(limits.chars) && length(way) >= least && words;
    let matches = |it: &String| pattern::matches(it, way).unwrap_or(true);
    fine && !way.is_empty() && limits.pattern.as_ref().is_none_or(matches)
}

/// Cuts text to what the field takes, at the end of a sentence or of a word if there is
/// one not far away.
fn cut(field: &Field, raw: &str) -> Result<String, UnfitValue> {
    let limits = &field.limits;
    let words = limits.words.map_or(usize::MAX, |it| usize::try_from(it).unwrap_or(usize::MAX));
    let by_words: String = raw
        .split_inclusive(char::is_whitespace)
        .scan(0_usize, |count, piece| {
            *count = count.saturating_add(usize::from(!piece.trim().is_empty()));
            (*count <= words).then_some(piece)
        })
        .collect();
    let most = limit(limits.chars);
    let mut room = most;
    let by_chars: String = by_words
        .chars()
        .take_while(|c| {
            let fits = c.len_utf16() <= room;
            room = if fits { room.saturating_sub(c.len_utf16()) } else { 0 };
            fits
        })
        .collect();
    let cut_short = by_chars.len() < raw.trim_end().len();
    let kept =
        if cut_short { whole_words(&by_chars, by_chars.len() < by_words.len()) } else { &by_chars };
    let kept = kept.trim_end();
    if takes(field, kept) { Ok(kept.into()) } else { Err(why(field, &[kept.to_string()])) }
}

/// Drops a partial last word, and the text after the last full sentence if most of the text is
/// before it.
fn whole_words(text: &str, inside: bool) -> &str {
    let floor = text.len().saturating_mul(3).checked_div(5).unwrap_or(0);
    let sentence = text.rfind(['.', '!', '?', '。']).filter(|at| *at >= floor);
    if let Some(end) = sentence {
        let last = text.get(end..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
        return text.get(..end.saturating_add(last)).unwrap_or(text);
    }
    let space = text.rfind(char::is_whitespace).filter(|at| inside && *at >= floor);
    space.and_then(|at| text.get(..at)).unwrap_or(text)
}

/// Says what the field wants, without the value.
fn why(field: &Field, ways: &[String]) -> UnfitValue {
    let limits = &field.limits;
    let lengths = || ways.iter().map(|way| length(way));
    if lengths().all(|it| it > limit(limits.chars)) {
        let most = limits.chars.unwrap_or(u32::MAX).into();
        return UnfitValue(format!("the field takes at most {}", counted(most, "character")));
    }
    if let Some(least) = limits
        .min_chars
        .filter(|least| lengths().all(|it| it < usize::try_from(*least).unwrap_or(usize::MAX)))
    {
        return UnfitValue(format!(
            "the field takes at least {}",
            counted(least.into(), "character")
        ));
    }
    match &limits.pattern {
        Some(pattern) => UnfitValue(format!("the value must match `{}`", text::line(pattern, 80))),
        None => UnfitValue("the field does not take the value".into()),
    }
}

/// Returns whether what a line shows is what was typed.
pub(super) fn kept(field: &Field, wanted: &str, found: &str) -> bool {
    let plain = |text: &str| -> String {
        let text = text.replace(['\u{a0}', '\u{202f}'], " ").replace(['\u{200b}', '\u{feff}'], "");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let (wanted, found) = (plain(wanted), plain(found));
    if wanted == found || wanted.to_lowercase() == found.to_lowercase() {
        return true;
    }
    if found.is_empty() {
        return false;
    }
    let bare = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let is = |kinds: &[FieldKind]| kinds.contains(&field.kind);
    if is(&[FieldKind::Email, FieldKind::Url, FieldKind::Username]) {
        return false;
    }
    if is(&[FieldKind::Tel, FieldKind::TelNational, FieldKind::TelLocal, FieldKind::TelCountryCode])
    {
        return Phone::same(&wanted, &found);
    }
    if super::number::read(&wanted).is_some() && super::number::same(&wanted, &found) {
        return true;
    }
    if date::same(&wanted, &found) {
        return true;
    }
    // Two numbers that differ in their points are two numbers.
    let decimal = |text: &str| text.contains(['.', ',']) && super::number::read(text).is_some();
    let numeric = decimal(&wanted) || decimal(&found);
    !numeric && !bare(&wanted).is_empty() && bare(&wanted) == bare(&found)
}
