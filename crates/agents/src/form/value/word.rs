//! Words that mean the same in forms: months, titles, sexes, yes and no, in many languages.

use alloc::{string::String, vec::Vec};

use crate::form::text;

/// The months, each with its names: English first.
#[rustfmt::skip]
const MONTHS: [&[&str]; 12] = [
    &["january", "jan", "januar", "jänner", "janvier", "janv", "enero", "ene", "gennaio", "gen", "janeiro", "januari", "tammikuu", "styczeń", "stycznia", "leden", "ledna", "январь", "января", "січень", "січня", "ocak", "ιανουάριος", "يناير"],
    &["february", "feb", "februar", "février", "févr", "febrero", "febbraio", "fevereiro", "fev", "februari", "helmikuu", "luty", "lutego", "únor", "února", "февраль", "февраля", "лютий", "лютого", "şubat", "φεβρουάριος", "فبراير"],
    &["march", "mar", "märz", "mrz", "mars", "marzo", "março", "maart", "mrt", "marts", "maaliskuu", "marzec", "marca", "březen", "března", "март", "марта", "березень", "березня", "mart", "μάρτιος", "مارس"],
    &["april", "apr", "avril", "avr", "abril", "abr", "aprile", "huhtikuu", "kwiecień", "kwietnia", "duben", "dubna", "апрель", "апреля", "квітень", "квітня", "nisan", "απρίλιος", "أبريل"],
    &["may", "mai", "mayo", "maggio", "mag", "maio", "mei", "maj", "toukokuu", "maja", "květen", "května", "май", "мая", "травень", "травня", "mayıs", "μάιος", "مايو"],
    &["june", "jun", "juni", "juin", "junio", "giugno", "giu", "junho", "kesäkuu", "czerwiec", "czerwca", "červen", "června", "июнь", "июня", "червень", "червня", "haziran", "ιούνιος", "يونيو"],
    &["july", "jul", "juli", "juillet", "juil", "julio", "luglio", "lug", "julho", "heinäkuu", "lipiec", "lipca", "červenec", "července", "июль", "июля", "липень", "липня", "temmuz", "ιούλιος", "يوليو"],
    &["august", "aug", "août", "aout", "agosto", "ago", "augustus", "augusti", "elokuu", "sierpień", "sierpnia", "srpen", "srpna", "август", "августа", "серпень", "серпня", "ağustos", "αύγουστος", "أغسطس"],
    &["september", "sep", "sept", "septembre", "septiembre", "settembre", "set", "setembro", "syyskuu", "wrzesień", "września", "září", "сентябрь", "сентября", "вересень", "вересня", "eylül", "σεπτέμβριος", "سبتمبر"],
    &["october", "oct", "oktober", "okt", "octobre", "octubre", "ottobre", "ott", "outubro", "out", "lokakuu", "październik", "października", "říjen", "října", "октябрь", "октября", "жовтень", "жовтня", "ekim", "οκτώβριος", "أكتوبر"],
    &["november", "nov", "novembre", "noviembre", "novembro", "marraskuu", "listopad", "listopada", "listopadu", "ноябрь", "ноября", "kasım", "νοέμβριος", "نوفمبر"],
    &["december", "dec", "dezember", "dez", "décembre", "déc", "diciembre", "dic", "dicembre", "dezembro", "desember", "joulukuu", "grudzień", "grudnia", "prosinec", "prosince", "декабрь", "декабря", "грудень", "грудня", "aralık", "δεκέμβριος", "ديسمبر"],
];

#[rustfmt::skip]
const NAMES: [&str; 12] = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
];

/// Titles that mean the same.
#[rustfmt::skip]
const TITLES: &[&[&str]] = &[
    &["mr", "mister", "herr", "hr", "m", "monsieur", "sr", "señor", "signor", "sig", "senhor", "dhr", "de heer", "pan", "господин", "bay"],
    &["mrs", "frau", "fr", "mme", "madame", "sra", "señora", "signora", "sig ra", "senhora", "mevr", "mevrouw", "fru", "rouva", "pani", "paní", "госпожа", "bayan"],
    &["ms", "frau", "mrs", "mme"],
    &["miss", "fräulein", "mlle", "mademoiselle", "srta", "señorita"],
    &["mx"],
    &["dr", "doctor", "doktor", "docteur", "dottore", "dott"],
    &["prof", "professor", "professeur", "profesor", "professore"],
    &["sir"],
    &["lady"],
    &["rev", "reverend"],
];

/// Sexes and genders.
#[rustfmt::skip]
const SEXES: &[&[&str]] = &[
    &["female", "f", "woman", "w", "weiblich", "frau", "femme", "féminin", "mujer", "femenino", "donna", "femmina", "mulher", "feminino", "vrouw", "kvinna", "kvinde", "kvinne", "nainen", "kobieta", "žena", "женский", "жінка", "kadın", "أنثى", "女", "女性", "여성", "girl"],
    &["male", "m", "man", "männlich", "mann", "homme", "masculin", "hombre", "masculino", "uomo", "maschio", "homem", "mies", "mężczyzna", "muž", "мужской", "чоловік", "erkek", "ذكر", "男", "男性", "남성", "boy"],
    &["other", "x", "d", "divers", "diverse", "non binary", "nonbinary", "non-binary", "autre", "otro", "altro", "outro", "anders", "annat", "andet", "muu", "inne", "jiné", "другой", "diğer", "another gender", "another"],
    &["prefer not to say", "rather not say", "not specified", "unspecified", "keine angabe", "unknown", "undisclosed", "prefiero no decirlo", "non précisé"],
];

#[rustfmt::skip]
const YES: &[&str] = &[
    "yes", "true", "on", "1", "checked", "y", "ja", "oui", "sí", "si", "sì", "sim", "kyllä", "tak", "ano", "да", "так", "evet", "ναι", "نعم", "はい", "예", "네", "是", "agree", "i agree", "x",
];
#[rustfmt::skip]
const NO: &[&str] = &[
    "no", "false", "off", "0", "unchecked", "n", "nein", "non", "não", "nao", "nee", "nej", "nei", "ei", "nie", "ne", "нет", "ні", "hayır", "όχι", "لا", "いいえ", "아니요", "否",
];

/// Languages, by their code.
#[rustfmt::skip]
const LANGUAGES: &[&[&str]] = &[
    &["en", "english", "englisch", "anglais", "inglés", "eng", "en us", "en gb"],
    &["de", "german", "deutsch", "allemand", "alemán", "deu", "ger"],
    &["fr", "french", "français", "französisch", "francés", "fra", "fre"],
    &["es", "spanish", "español", "spanisch", "espagnol", "spa", "castellano"],
    &["it", "italian", "italiano", "italienisch", "ita"],
    &["pt", "portuguese", "português", "portugiesisch", "por"],
    &["nl", "dutch", "nederlands", "niederländisch", "nld", "dut"],
    &["sv", "swedish", "svenska"], &["da", "danish", "dansk"], &["nb", "no", "norwegian", "norsk"],
    &["fi", "finnish", "suomi"], &["pl", "polish", "polski"], &["cs", "czech", "čeština"],
    &["ru", "russian", "русский"], &["uk", "ukrainian", "українська"], &["el", "greek", "ελληνικά"],
    &["tr", "turkish", "türkçe"], &["ja", "japanese", "日本語"], &["ko", "korean", "한국어"],
    &["zh", "chinese", "中文", "mandarin"], &["ar", "arabic", "العربية"], &["hi", "hindi", "हिन्दी"],
];

/// Payment cards.
#[rustfmt::skip]
const CARDS: &[&[&str]] = &[
    &["visa", "vi"], &["mastercard", "master card", "mc", "eurocard"],
    &["american express", "amex", "ax"], &["discover", "di"], &["diners club", "diners", "dc"],
    &["jcb"], &["maestro"], &["unionpay", "union pay", "cup"],
];

/// Returns the month that a word names.
pub(crate) fn month(name: &str) -> Option<u8> {
    let name = name.trim().trim_end_matches('.').to_lowercase();
    let at = MONTHS.iter().position(|names| names.contains(&name.as_str()))?;
    u8::try_from(at).ok()?.checked_add(1)
}

/// Returns a month's name in English.
pub(super) fn month_name(month: u8) -> &'static str {
    let at = usize::from(month).saturating_sub(1);
    NAMES.get(at).copied().unwrap_or_default()
}

/// Returns the words for a month, and its numbers.
pub(super) fn months(month: u8) -> Vec<String> {
    let names = MONTHS.get(usize::from(month).saturating_sub(1)).copied().unwrap_or_default();
    let mut all = numbers(u16::from(month));
    all.extend(names.iter().map(|name| String::from(*name)));
    // `03 - March`, `March (03)`.
    let both = names.iter().map(|name| alloc::format!("{month:02} {name}"));
    let turned = names.iter().map(|name| alloc::format!("{name} {month:02}"));
    let short = names.iter().map(|name| alloc::format!("{month} {name}"));
    let more: Vec<String> = both.chain(turned).chain(short).collect();
    all.extend(more);
    all
}

/// Returns the ways of writing a small number.
pub(super) fn numbers(number: u16) -> Vec<String> {
    let ending = match (number.wrapping_rem(10), number.wrapping_rem(100)) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    Vec::from([
        alloc::format!("{number}"),
        alloc::format!("{number:02}"),
        alloc::format!("{number}{ending}"),
    ])
}

/// Returns every word of the group that a word is in.
fn group(groups: &[&[&'static str]], word: &str) -> Vec<&'static str> {
    let within = |names: &&&[&'static str]| names.iter().any(|name| text::same(name, word));
    groups.iter().find(within).map(|names| names.to_vec()).unwrap_or_default()
}

pub(super) fn titles(title: &str) -> Vec<&'static str> {
    group(TITLES, title)
}

pub(super) fn sexes(sex: &str) -> Vec<&'static str> {
    group(SEXES, sex)
}

pub(super) fn languages(language: &str) -> Vec<&'static str> {
    group(LANGUAGES, language)
}

pub(super) fn cards(card: &str) -> Vec<&'static str> {
    group(CARDS, card)
}

/// Returns what a word says, if it says yes or no.
pub(super) fn yes_or_no(word: &str) -> Option<bool> {
    let is = |known: &[&str]| known.iter().any(|known| text::same(known, word));
    if is(YES) {
        return Some(true);
    }
    is(NO).then_some(false)
}

/// Returns the words that say the same as a yes or a no.
pub(super) const fn words_for(yes: bool) -> &'static [&'static str] {
    if yes { YES } else { NO }
}
