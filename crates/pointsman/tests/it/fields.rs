//! `fields`: the fields of a page, and the message for a page without any.

use std::collections::BTreeMap;

use insta::assert_snapshot;
use serde_json::Value;

use crate::{home::Home, pointsman, stdout};

#[test]
fn fields_explains_unusable_pages() {
    assert_snapshot!(pointsman(&["fields", "no/such/page.html"]), @r"
    exit 2
    --- stdout
    --- stderr
    error: cannot read no/such/page.html: No such file or directory (os error 2)
    hint: name an existing file, or a full address
    ");
    assert_snapshot!(pointsman(&["fields", "example.org/form"]), @r"
    exit 2
    --- stdout
    --- stderr
    error: cannot read example.org/form: No such file or directory (os error 2)
    hint: name an existing file, or a full address: `https://example.org/form`
    ");
    let shown = pointsman(&["fields"]);
    assert!(shown.starts_with("exit 2\n"), "{shown}");
}

#[test]
fn fields_names_the_packages_for_a_missing_browser() {
    let home = Home::new("fields-none");
    home.write("page.html", "<input name=email>");
    let shown = home.with(&[("PATH", "/nowhere")], &["fields", "page.html"]);
    assert_eq!(shown.code, Some(2), "{}", shown.err);
    assert_eq!(shown.out, "");
    assert!(shown.err.contains("was not found"), "{}", shown.err);
    assert!(shown.err.contains("apt-get install chromium chromium-driver"), "{}", shown.err);
}

#[test]
fn fields_help_tells_the_exit_codes() {
    let help = stdout(&["fields", "--help"]);
    assert!(help.contains("Examples:\n") && help.contains("Exit codes:"), "{help}");
}

const PAGE: &str = r#"<!doctype html><html lang="en"><title>Join</title>
<header><form role="search"><input type="search" name="q" data-mark="outside"></form></header>
<form id="join" action="/join"><h1>Sign up</h1>
  <label>First name <input name="fn" data-mark="given" required></label>
  <label for="mail">E-mail *</label><input id="mail" data-mark="mail" autocomplete="section-a email">
  <fieldset><legend>How do you travel?</legend>
    <label><input type="radio" name="way" value="t" data-mark="way"> By train</label>
    <label><input type="radio" name="way" value="b"> By bus</label></fieldset>
  <label for="why">Why?</label><textarea id="why" data-mark="why" aria-describedby="hint"></textarea>
  <p id="hint">No more than 50 words</p>
  <label>Country <select data-mark="land"><option value="">Choose<option value="at">Austria</select></label>
  <label>Password <input type="password" data-mark="secret"></label>
  <div style="position:absolute;left:-9999px"><label>Leave this empty <input name="url" data-mark="trap"></label></div>
  <div id="host"></div><iframe id="inner" srcdoc="<label>Town <input data-mark='town'></label>"></iframe>
  <p><span>Day pass</span> <span role="checkbox" aria-checked="false" aria-label="Day pass" tabindex="0" style="display:inline-block;width:12px;height:12px" data-mark="box"></span></p>
  <button type="button">Show</button><button data-mark="send">Create account</button>
</form>
<script>
  const root = document.getElementById("host").attachShadow({ mode: "open" });
  root.innerHTML = "<label>Phone <input data-mark='phone' type='tel'></label>";
</script>"#;

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn fields_keep_their_contract() {
    let home = Home::new("fields-json");
    home.write("page.html", PAGE);
    let shown = home.with(&[("PATH", "/usr/bin:/bin")], &["fields", "page.html", "--json"]);
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    let page: Value = serde_json::from_str(&shown.out).expect("the text is valid JSON");
    assert!(page["url"].as_str().is_some_and(|url| url.starts_with("file:///")), "{page}");
    let told: BTreeMap<&str, String> = page["fields"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|field| {
            for key in
                ["selector", "type", "kind", "label", "required", "options", "limits", "fill"]
            {
                assert!(!field[key].is_null(), "{key} is missing in {field}");
            }
            let mark = field["attributes"]["data-mark"].as_str().unwrap_or_default();
            let word = |key: &str| field[key].as_str().unwrap_or_default().to_owned();
            let star = if field["required"] == true { "*" } else { "" };
            let told = format!(
                "{}{star} {} {} {}",
                word("label"),
                word("type"),
                word("kind"),
                word("fill")
            );
            (mark, told)
        })
        .collect();
    let expected = [
        ("outside", "q text none yes"),
        ("given", "First name* text given-name yes"),
        ("mail", "E-mail* text email yes"),
        ("way", "How do you travel? radio none yes"),
        ("why", "Why? textarea none yes"),
        ("land", "Country select country yes"),
        ("secret", "Password password new-password never"),
        ("trap", "Leave this empty text url hidden"),
        ("town", "Town text address-level2 yes"),
        ("box", "Day pass checkbox none yes"),
        ("phone", "Phone text tel yes"),
    ];
    for (mark, expected) in expected {
        // The kind of a trap does not matter.
        let (found, expected) = match mark {
            "trap" => (told.get(mark).map(|it| it.ends_with("hidden")), true),
            _ => (told.get(mark).map(|it| it == expected), true),
        };
        assert_eq!(found, Some(expected), "{mark}: {told:#?}");
    }
    let by_mark = |mark: &str| {
        let mut all = page["fields"].as_array().into_iter().flatten();
        all.find(|field| field["attributes"]["data-mark"] == mark).cloned().unwrap_or_default()
    };
    assert_eq!(by_mark("outside")["outside"], true);
    assert_eq!(by_mark("why")["limits"]["words"], 50);
    assert_eq!(by_mark("way")["options"].as_array().map(Vec::len), Some(2));
    assert_eq!(
        by_mark("phone")["selector"],
        "#host >>> label:nth-of-type(1) > input:nth-of-type(1)"
    );
    assert!(by_mark("town")["selector"].as_str().is_some_and(|it| it.starts_with("#inner >>> ")));
    assert_eq!(page["submit"]["attributes"]["data-mark"], "send");
    assert_eq!(page["submit"]["label"], "Create account");
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn fields_reports_empty_and_changing_pages() {
    let home = Home::new("fields-bad");
    let look = |name: &str, text: &str, more: &[&str]| {
        home.write(name, text);
        home.with(&[("PATH", "/usr/bin:/bin")], &[&["fields", name][..], more].concat())
    };
    let empty = look("empty.html", "<title>Nothing</title><p>Nothing to fill.</p>", &[]);
    assert_eq!(empty.code, Some(0), "{}", empty.err);
    assert!(empty.out.contains("the page has no form with fields"), "{}", empty.out);
    let json = look("empty.html", "<p>Nothing to fill.</p>", &["--json"]);
    let page: Value = serde_json::from_str(&json.out).expect("the text is valid JSON");
    assert_eq!((page["fields"].as_array().map(Vec::len), &page["submit"]), (Some(0), &Value::Null));
    let restless = "<form id=f><input name=a></form><script>let n = 0; setInterval(() => { \
                    f.innerHTML = `<input name=a${n += 1}><input name=b${n}>`; }, 20);</script>";
    let moving = look("moving.html", restless, &["--settle", "1"]);
    assert_eq!(moving.code, Some(1), "{} {}", moving.out, moving.err);
    assert!(moving.err.contains("kept changing"), "{}", moving.err);
    let gone = home.with(&[("PATH", "/usr/bin:/bin")], &["fields", "http://127.0.0.1:1/"]);
    assert_eq!(gone.code, Some(1), "{}", gone.err);
    assert!(gone.err.contains("cannot open http://127.0.0.1:1/"), "{}", gone.err);
}
