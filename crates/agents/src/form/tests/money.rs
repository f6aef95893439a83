//! What costs money is asked for, however a page writes it.

use alloc::vec;

use pointsman_kernel::agent::Order;

use super::{
    super::{ControlClass, ControlRole, NavigationControl, read::tests::page::Page},
    at_next_page, control, controls,
};
use crate::form::snapshot::{Control, PressEffect};

fn class(label: &str) -> ControlClass {
    control(label).class()
}

#[test]
fn words_of_paying_are_known_in_many_languages() {
    let labels = "Pay now, Buy, Order, Checkout, Place bid, Subscribe, Subscribe & continue, \
        Start free trial, Kostenpflichtig buchen, Jetzt verbindlich buchen, Gebot abgeben, Abonnieren, \
        Payer, Enchérir, S'abonner, Comprar, Pujar, Suscribirse, Pagar, Dar lance, Acquista ora, \
        Fai un'offerta, Betalen, Bod plaatsen, Köp, Lägg bud, Køb nu, Byd, Kjøp, Gi bud, Osta, \
        Maksa nyt, Kup teraz, Licytuj, Zamawiam z obowiązkiem zapłaty, Koupit, Zaplatiť, Fizetés, \
        Megrendelem, Plătește, Купи, Плати, Plati, Naroči, Telli, Pirkt, Mokėti, Πληρωμή, \
        Sipariş ver, Teklif ver, Оплатить, Сделать ставку, Замовити, ادفع الآن, שלם עכשיו, پرداخت, \
        भुगतान करें, 購入する, 入札する, 결제하기, 立即购买, 出价, Thanh toán, Bayar sekarang, ชำระเงิน";
    for label in labels.split(", ") {
        assert_eq!(class(label.trim()), ControlClass::Pay, "{label}");
    }
}

#[test]
fn words_of_paying_are_known_however_they_are_disguised() {
    for label in [
        "P\u{200b}ay now",
        "P\u{ad}a\u{2060}y",
        "\u{202e}Pay\u{202c}",
        "Ｐａｙ",
        "𝐏𝐚𝐲 now",
        "Pаy", // with a Cyrillic а
        "Ρay", // with a Greek Ρ
        "P a y",
        "Pa\u{336}y\u{336}",
        "PayNow",
        "KO\u{308}P NU",
        "Confirm (500 GBP)",
        "Book for £45",
        "Weiter – 12,50 €",
        "确认 100元",
    ] {
        assert_eq!(class(label), ControlClass::Pay, "{label:?}");
    }
}

#[test]
fn free_actions_are_not_taken_for_paying() {
    for label in [
        "Send",
        "Continue",
        "Confirm",
        "Book",
        "Next",
        "Submit application",
        "Send message",
        "Kirim pesan",
        "Donner mon avis",
        "Pedir cita",
        "Richiedi offerta",
        "Subscribe to our newsletter",
        "Newsletter abonnieren",
        "Try 3 times",
        "Step 2 of 5",
        "Continue (£0.00)",
    ] {
        assert_ne!(class(label), ControlClass::Pay, "{label}");
    }
}

/// Reads the control of a form with these words beside the control and in the whole form.
fn beside(label: &str, does: PressEffect, near: &str, form_text: &str) -> NavigationControl {
    let mut page = Page::new();
    let form = page.place(0, "form", "");
    page.sighting.places[form].text = form_text.into();
    page.labelled(form, "City", "");
    page.pressed(form, does, label, |seen: &mut Control| seen.near = near.into());
    page.read().controls.remove(0)
}

#[test]
fn prices_near_a_control_count() {
    for near in [
        "Total: 500 GBP. By confirming you pay 500 GBP.",
        "€ 9.99 per month",
        "Your card will be charged today.",
        "Gesamtpreis: 49,00 EUR",
        "Le montant sera débité",
        "合計 1,200円",
        "Pris: 199 kr",
        "Стоимость 300 руб.",
    ] {
        for label in ["Confirm", "Next", "Send", "Wibble"] {
            let found = beside(label, PressEffect::Submit, near, "");
            assert_eq!(found.class(), ControlClass::Pay, "{label}: {near}");
        }
        assert_eq!(beside("Back", PressEffect::Button, near, "").class(), ControlClass::Aside);
        let script = beside("Wibble", PressEffect::Button, near, "");
        assert_eq!(script.class(), ControlClass::Unknown, "it may be anything");
    }
    for near in
        ["", "We answer within 3 days.", "Total: £0.00", "J'ai pris connaissance", "Try 3 times."]
    {
        assert_eq!(
            beside("Confirm", PressEffect::Submit, near, "").class(),
            ControlClass::Send,
            "{near}"
        );
        assert_eq!(
            beside("Next", PressEffect::Submit, near, "").class(),
            ControlClass::Onward,
            "{near}"
        );
    }
}

#[test]
fn prices_anywhere_in_the_form_count_as_paying() {
    let class = |text: &str| beside("Confirm", PressEffect::Submit, "", text).class();
    assert_eq!(class("Order summary. Total £45.00. City"), ControlClass::Pay);
    assert_eq!(class("Salary now: £30,000. City"), ControlClass::Send);
    assert_eq!(class("Payment of expenses. City"), ControlClass::Send);
}

#[test]
fn paying_is_asked_for_by_its_class() {
    for (label, does) in [
        ("Confirm", ControlRole::Submit),
        ("Next", ControlRole::Button),
        ("Next", ControlRole::Submit),
    ] {
        let mut driver = at_next_page();
        driver.report(controls(vec![NavigationControl { does, costs: true, ..control(label) }]));
        let Order::Tool(call) = driver.order() else { panic!("{:?}", driver.order()) };
        assert!(call.arguments.get().contains("\"class\":\"pay\""), "{call:?}");
    }
}

#[test]
fn a_control_without_a_price_is_written_as_before() {
    let plain = serde_json::to_string(&control("Send")).expect("value serialises to JSON");
    assert!(!plain.contains("costs"), "{plain}");
}
