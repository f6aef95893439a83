//! Fields that say that they are to be left empty, in many languages.

use alloc::format;

use super::page::Page;
use crate::form::{Fill, classify::words::TRAPS, snapshot::Control};

fn fill(change: impl FnOnce(&mut Control)) -> Fill {
    let mut page = Page::new();
    let form = page.place(0, "form", "");
    page.field(form, "autocomplete=address-level2", change);
    page.read().fields[0].fill
}

fn labelled(label: &str) -> Fill {
    fill(|seen| seen.names.wrapping = label.into())
}

#[test]
fn a_label_that_says_so_makes_a_trap_in_every_language() {
    for says in [
        "Leave this field blank",
        "Leave blank",
        "Please keep this box empty",
        "Bitte leer lassen",
        "Dieses Feld nicht ausfüllen",
        "Ne pas remplir",
        "Laissez ce champ vide",
        "Dejar en blanco",
        "No rellenar",
        "Lasciare vuoto",
        "Deixe em branco",
        "Deixeu-ho en blanc",
        "Laat dit leeg",
        "Lämna tomt",
        "Lad feltet være tomt",
        "La feltet stå tomt",
        "Skildu eftir autt",
        "Jätä tyhjäksi",
        "Zostaw puste",
        "Nechte prázdné",
        "Nechajte prázdne",
        "Hagyja üresen",
        "Lăsați gol",
        "Оставете празно",
        "Ostavite prazno",
        "Оставите празно",
        "Pustite prazno",
        "Jäta tühjaks",
        "Atstājiet tukšu",
        "Palikite tuščią",
        "Αφήστε κενό",
        "Boş bırakın",
        "Не заполняйте",
        "Оставьте пустым",
        "Залиште порожнім",
        "اتركه فارغا",
        "اترك هذا الحقل فارغاً",
        "השאירו ריק",
        "خالی بگذارید",
        "खाली छोड़ें",
        "空欄のままにしてください",
        "비워 두세요",
        "请勿填写",
        "此处留空",
        "Vui lòng để trống",
        "Biarkan kosong",
        "โปรดเว้นว่างไว้",
        "Do not fill this in",
        "If you are human, leave this empty",
        "Leave this empty if you can see it",
        "L\u{200b}eave bl\u{ad}ank",
    ] {
        assert_eq!(labelled(&format!("City ({says})")), Fill::Hidden, "{says}");
    }
}

#[test]
fn advice_for_people_is_not_a_trap() {
    for says in [
        "Middle name (leave blank if you have none)",
        "Leave empty to keep your password",
        "If you have no second name, leave this blank",
        "Zweiter Vorname (leer lassen, falls keiner)",
        "Laissez vide si vous n'en avez pas",
        "Dejar en blanco si no procede",
        "Lasciare vuoto se non presente",
        "Leeg laten indien niet van toepassing",
        "Zostaw puste, jeśli nie dotyczy",
        "Оставьте пустым, если нет",
        "空欄のまま 該当しない場合",
        "Leave a message",
        "Annual leave (days)",
        "Leave date",
        "Keep me informed",
        "Blank cartridges",
        "Empty weight",
        "Leergewicht",
        "Hinterlassen Sie uns eine Nachricht",
        "Laisser un commentaire",
        "Deje su mensaje",
        "Foto en blanco y negro",
        "Lascia un messaggio",
        "Laat een bericht achter",
        "Lämna ett meddelande",
        "Zostaw wiadomość",
        "Оставьте комментарий",
        "اترك رسالة",
        "Bıraktığınız iş",
        "City",
    ] {
        assert_ne!(labelled(says), Fill::Hidden, "{says}");
    }
}

#[test]
fn hints_placeholders_and_identifiers_reveal_traps() {
    assert_eq!(fill(|seen| seen.names.described = "Dejar en blanco".into()), Fill::Hidden);
    assert_eq!(fill(|seen| seen.names.placeholder = "Leave blank".into()), Fill::Hidden);
    let named = |name: &str| {
        fill(|seen| {
            seen.attributes.insert("class".into(), name.into());
        })
    };
    assert_eq!(named("leave_blank"), Fill::Hidden);
    assert_eq!(named("keep-alive is-empty"), Fill::Yes);
}

#[test]
fn thirty_languages_are_known() {
    let languages: alloc::vec::Vec<_> = TRAPS.under("says").map(|(language, _)| language).collect();
    assert!(languages.len() >= 30, "{}", languages.len());
    let once: alloc::collections::BTreeSet<_> = languages.iter().collect();
    assert_eq!(once.len(), languages.len());
}
