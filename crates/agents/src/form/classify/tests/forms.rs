//! What neighbours, lists and the purpose of a form decide.

use alloc::{string::String, vec::Vec};

use crate::form::{
    FieldKind, Fill,
    read::tests::page::Page,
    snapshot::{ControlOption, PressEffect},
};

/// Makes a form of fields, `label: attributes`, and a button.
fn form(attributes: &str, heading: &str, fields: &[(&str, &str)], button: &str) -> Page {
    let mut page = Page::new();
    let form = page.place(0, "form", attributes);
    if !heading.is_empty() {
        page.heading(form, heading);
    }
    for (label, attributes) in fields {
        page.labelled(form, label, attributes);
    }
    page.press(form, PressEffect::Submit, button);
    page
}

fn tokens(page: &Page) -> Vec<&'static str> {
    page.read().fields.iter().map(|field| field.kind.token()).collect()
}

const SECRET: &str = "type=password";

#[test]
fn where_one_signs_in_the_account_is_the_username() {
    for (heading, label, button) in [
        ("Sign in", "Email", "Continue"),
        ("Anmelden", "E-Mail", "Weiter"),
        ("", "Phone or email", "Log in"),
        ("Connexion", "Adresse e-mail", "Se connecter"),
        ("", "Телефон", "Войти"),
        ("", "社員番号", "ログイン"),
    ] {
        let page = form("", heading, &[(label, ""), ("Password", SECRET)], button);
        assert_eq!(tokens(&page), ["username", "current-password"], "{label}");
        assert_eq!(page.read().purpose, "log-in", "{label}");
    }
    let first = form("id=login-form", "Sign in", &[("Email", "type=email")], "Next");
    assert_eq!(tokens(&first), ["username"], "also where the password comes later");
}

#[test]
fn where_an_account_is_made_mail_is_mail_and_passwords_are_new() {
    for (heading, button) in [
        ("Sign up", "Create account"),
        ("Registrieren", "Konto erstellen"),
        ("", "Зарегистрироваться"),
    ] {
        let fields = [("Email", "type=email"), ("Password", SECRET), ("Repeat", SECRET)];
        let page = form("", heading, &fields, button);
        assert_eq!(tokens(&page), ["email", "new-password", "new-password"], "{heading}");
    }
    let page = form("class=signup", "", &[("E-mail", ""), ("Password", SECRET)], "Join now");
    assert_eq!(tokens(&page), ["email", "new-password"]);
}

#[test]
fn old_and_new_passwords_are_distinguished() {
    let fields =
        [("Old password", SECRET), ("New password", SECRET), ("Confirm new password", SECRET)];
    let page = form("", "Change password", &fields, "Save");
    assert_eq!(tokens(&page), ["current-password", "new-password", "new-password"]);
    let fields = [("Password", SECRET), ("Password", SECRET), ("Again", SECRET)];
    let page = form("id=change-password", "", &fields, "Update password");
    assert_eq!(tokens(&page), ["current-password", "new-password", "new-password"]);
}

#[test]
fn an_attribute_that_only_keeps_browsers_away_is_not_believed() {
    let fields = [("User", ""), ("Password", "type=password autocomplete=new-password")];
    let page = form("", "Sign in", &fields, "Sign in");
    assert_eq!(tokens(&page), ["username", "current-password"]);
    let page = form("", "", &[("Street address", "autocomplete=new-password")], "Save");
    assert_eq!(tokens(&page), ["street-address"]);
}

#[test]
fn a_newsletter_and_a_contact_form_ask_for_mail() {
    for (heading, button) in
        [("Newsletter", "Subscribe"), ("Contact us", "Send message"), ("", "Abonnieren")]
    {
        assert_eq!(tokens(&form("", heading, &[("Email", "")], button)), ["email"], "{button}");
    }
}

#[test]
fn date_parts_belong_to_their_question() {
    let date = |legend: &str| {
        let mut page = Page::new();
        let form = page.place(0, "form", "");
        let set = page.place(form, "fieldset", "");
        page.sighting.places[set].legend = legend.into();
        for label in ["Day", "Month", "Year"] {
            page.labelled(set, label, "");
        }
        tokens(&page)
    };
    assert_eq!(date("What is your date of birth?"), ["bday-day", "bday-month", "bday-year"]);
    assert_eq!(date("Geburtsdatum"), ["bday-day", "bday-month", "bday-year"]);
    assert_eq!(date("When did you move?"), ["none", "none", "none"]);
}

#[test]
fn date_with_a_day_is_neither_an_expiry_nor_a_name() {
    let mut page = Page::new();
    let form = page.place(0, "form", "");
    for (label, part) in
        [("Day[dd]", "day[dd]"), ("Month[mm]", "month[mm]"), ("Year[yyyy]", "year[yyyy]")]
    {
        let attributes =
            alloc::format!("id=with-nested-name-{part} name={part} type=text inputmode=numeric");
        page.labelled(form, label, &attributes);
    }
    assert_eq!(tokens(&page), ["none", "none", "none"]);
    assert!(page.read().fields.iter().all(|field| field.fill == Fill::Yes));
}

#[test]
fn visible_question_counts_before_the_name() {
    let mut page = Page::new();
    let form = page.place(0, "form", "");
    let set = page.place(form, "fieldset", "");
    page.sighting.places[set].legend = "When did you move to this property?".into();
    page.labelled(set, "Month", "name=dob-month");
    page.labelled(set, "Year", "name=dob-year");
    assert_eq!(tokens(&page), ["none", "none"]);
    page.sighting.places[set].legend.clear();
    assert_eq!(tokens(&page), ["bday-month", "bday-year"]);
}

#[test]
fn month_and_year_near_a_card_belong_to_it() {
    let mut page = Page::new();
    let form = page.place(0, "form", "");
    page.labelled(form, "Card number", "");
    let months: Vec<String> = (1..=12).map(|month| alloc::format!("{month:02}")).collect();
    page.list(form, "", &months.iter().map(String::as_str).collect::<Vec<_>>());
    page.list(form, "", &["2027", "2028", "2029", "2030"]);
    page.labelled(form, "CVV", "");
    assert_eq!(tokens(&page), ["cc-number", "cc-exp-month", "cc-exp-year", "cc-csc"]);
}

fn listed(options: &[&str]) -> FieldKind {
    let mut page = Page::new();
    let form = page.place(0, "form", "");
    page.list(form, "", options);
    page.labelled(form, "Other", "");
    page.read().fields[0].kind
}

#[test]
fn first_option_of_a_custom_list_is_not_its_label() {
    let mut page = Page::new();
    let form = page.place(0, "form", "");
    page.field(form, "role=combobox", |seen| {
        seen.tag = "div".into();
        seen.type_.clear();
        seen.names.labelled_by = "Class of travel".into();
        let named = |label: &str| ControlOption {
            value: label.into(),
            label: label.into(),
            ..ControlOption::default()
        };
        seen.options = ["First", "Second", "Sleeper"].map(named).into();
    });
    assert_eq!(page.read().fields[0].kind, FieldKind::None);
}

#[test]
fn option_lists_reveal_their_kind() {
    assert_eq!(listed(&["Choose", "Austria", "Belgium", "Canada", "Denmark"]), FieldKind::Country);
    assert_eq!(listed(&["Deutschland", "Frankreich", "Italien", "Spanien"]), FieldKind::Country);
    assert_eq!(
        listed(&["Select", "Alabama", "Alaska", "Arizona", "Arkansas"]),
        FieldKind::AddressLevel1
    );
    assert_eq!(listed(&["", "AL", "AK", "AZ", "AR", "CA", "CO", "CT"]), FieldKind::AddressLevel1);
    assert_eq!(
        listed(&["AL - Alabama", "AK - Alaska", "AZ - Arizona", "TX - Texas"]),
        FieldKind::AddressLevel1
    );
    assert_eq!(listed(&["Mr", "Mrs", "Ms", "Dr"]), FieldKind::HonorificPrefix);
    assert_eq!(listed(&["Female", "Male", "Other"]), FieldKind::Sex);
    assert_eq!(listed(&["Visa", "Mastercard", "American Express"]), FieldKind::CcType);
    assert_eq!(
        listed(&["Germany (+49)", "France (+33)", "Italy (+39)"]),
        FieldKind::TelCountryCode
    );
    assert_eq!(listed(&["English", "Deutsch", "Français"]), FieldKind::Language);
    assert_eq!(listed(&["EUR", "USD", "GBP"]), FieldKind::TransactionCurrency);
    assert_eq!(listed(&["Small", "Medium", "Large"]), FieldKind::None);
}

#[test]
fn address_lines_are_distinguished() {
    let page = form("", "", &[("Address", ""), ("Apartment, suite", ""), ("City", "")], "Save");
    assert_eq!(tokens(&page), ["address-line1", "address-line2", "address-level2"]);
    let mut page = Page::new();
    let place = page.place(0, "form", "");
    page.labelled(place, "Street address", "name=street[0]");
    page.field(place, "name=street[1]", |_| {});
    assert_eq!(tokens(&page), ["street-address", "address-line2"]);
}

#[test]
fn a_number_after_its_country_code_is_the_national_one() {
    let page = form("", "", &[("Country calling code", ""), ("Phone", "type=tel")], "Save");
    assert_eq!(tokens(&page), ["tel-country-code", "tel-national"]);
}

#[test]
fn a_box_or_an_area_asks_for_nothing_in_particular() {
    let page = form("", "", &[("Email me", "type=checkbox"), ("Phone", "type=date")], "Save");
    assert_eq!(tokens(&page), ["none", "none"]);
}

#[test]
fn security_answers_are_not_passwords() {
    let page =
        form("", "", &[("Your answer", SECRET), ("MFA code", SECRET), ("CVV", SECRET)], "Save");
    assert_eq!(tokens(&page), ["none", "one-time-code", "cc-csc"]);
}

#[test]
fn words_of_a_saved_page_s_address_do_not_count() {
    let mut page = form("", "", &[("Email", "type=email")], "Go");
    page.sighting.url = "file:///tmp/login.html".into();
    assert_eq!(tokens(&page), ["email"]);
}

#[test]
fn name_next_to_a_family_name_is_the_given_name() {
    let page = form("", "", &[("Nombre", ""), ("Apellidos", "")], "Enviar");
    assert_eq!(tokens(&page), ["given-name", "family-name"]);
    let page = form("", "", &[("Prénom", ""), ("Nom", "")], "Envoyer");
    assert_eq!(tokens(&page), ["given-name", "family-name"]);
    let page = form("", "", &[("Name", ""), ("Email", "type=email")], "Send");
    assert_eq!(tokens(&page), ["name", "email"]);
}

#[test]
fn a_date_as_a_whole_is_not_taken_apart() {
    let card = ("Card number", "");
    let page = form("", "", &[card, ("Expiry", "name=expMonthYear placeholder=MM/YY")], "Pay");
    assert_eq!(tokens(&page), ["cc-number", "cc-exp"]);
    let page = form("", "", &[card, ("Udløber (mm/åå)", "autocomplete=cc-exp")], "Pay");
    assert_eq!(tokens(&page), ["cc-number", "cc-exp"]);
}

#[test]
fn a_telephone_for_the_day_is_a_telephone_in_parts() {
    let mut page = Page::new();
    let form = page.place(0, "form", "");
    for (part, most) in [(1, "3"), (2, "3"), (3, "4")] {
        page.field(form, "", |seen| {
            seen.attributes.insert("name".into(), alloc::format!("day_phone_part{part}"));
            seen.attributes.insert("maxlength".into(), most.into());
        });
    }
    assert_eq!(tokens(&page), ["tel-area-code", "tel-local", "tel-local"]);
}

#[test]
fn hours_of_a_time_zone_are_not_dialled() {
    let mut page = Page::new();
    let form = page.place(0, "form", "");
    page.list(form, "", &["(WEZ +1:00) Berlin", "(WEZ +2:00) Kairo", "(WEZ +3:00) Riyadh"]);
    page.list(form, "", &["Germany (+49)", "France (+33)", "Italy (+39)"]);
    assert_eq!(tokens(&page), ["none", "tel-country-code"]);
}

#[test]
fn place_of_birth_is_not_an_address() {
    for label in ["City of birth", "Country of Birth", "Geburtsort", "Lieu de naissance"] {
        let page = form("", "", &[(label, "")], "Send");
        assert_eq!(tokens(&page), ["none"], "{label}");
    }
}

#[test]
fn label_outweighs_the_identifier() {
    let page = form("", "", &[("Minimum length of stay", "id=url name=min_stay")], "Send");
    assert_eq!(tokens(&page), ["none"]);
    let page = form("", "", &[("Website", "id=url")], "Send");
    assert_eq!(tokens(&page), ["url"]);
}
