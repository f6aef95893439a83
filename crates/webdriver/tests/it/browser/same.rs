//! Only what was read is touched: a field, a control or a page that has changed since is rejected,
//! and nothing is typed elsewhere.

use pointsman_agents::form::Field;
use pointsman_webdriver::browser::BrowserError;

use super::{OpenPage, Site, folder};

/// Returns the field with this id, as read.
async fn read(page: &OpenPage, id: &str) -> Field {
    let fields = page.stands().await.reading.fields;
    let found = fields.iter().find(|it| it.attributes.get("id").is_some_and(|it| it == id));
    found.unwrap_or_else(|| panic!("no #{id} in {fields:?}")).clone()
}

/// Opens a page of one line with this script, and tries to fill the line.
async fn refused(script: &str, value: &str) -> (OpenPage, BrowserError) {
    let html = format!(
        "<form><p id=p><label for=n id=l>City</label> <input id=n></p><button>Send</button></form>
         <script>window.heard = []; addEventListener('input', () => heard.push(1), true); {script}</script>"
    );
    let page = OpenPage::page(&html).await;
    let field = read(&page, "n").await;
    page.js("window.late?.()").await;
    let error = page.fill(&field, value).await.expect_err("it is another field");
    (page, error)
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn a_field_that_has_changed_since_it_was_read_is_not_typed_into() {
    for (script, what) in [
        ("n.addEventListener('focus', () => { n.type = 'file' })", "to `file`"),
        ("n.addEventListener('focus', () => { n.type = 'password' })", "to `password`"),
        ("late = () => { l.textContent = 'Card number' }", r#"to "Card number""#),
        ("n.onfocus = () => { l.textContent = 'Card number' }", r#"to "Card number""#),
        ("late = () => n.setAttribute('role', 'combobox')", "to `combobox`"),
        (
            "late = () => { const t = document.createElement('textarea'); t.id = 'n'; n.replaceWith(t) }",
            "to `textarea`",
        ),
    ] {
        let (page, error) = refused(script, "Whitby").await;
        let told = error.to_string();
        assert!(matches!(error, BrowserError::Changed { .. }) && told.contains(what), "{told}");
        assert!(!error.is_repeatable());
        assert_eq!(page.js("return heard.length").await, 0, "{script}");
    }
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn a_field_of_another_document_is_not_typed_into() {
    let html = "<form><label for=n>City</label><input id=n><button>Send</button></form>";
    let page = OpenPage::page(html).await;
    let field = read(&page, "n").await;
    page.browser.goto(&page.site.url("/")).await.expect("page loads");
    let error = page.fill(&field, "Whitby").await.expect_err("it is another document");
    assert!(error.to_string().contains("its document has changed"), "{error}");
    assert_eq!(page.js("return n.value").await, "");
}

/// A field that turns into one for files, at whatever moment, is never given one.
#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn a_text_never_becomes_the_path_of_a_file() {
    let secret = folder("secret").join("secret.txt");
    std::fs::write(&secret, "nobody's business").expect("file is writable");
    let path = secret.to_str().expect("path is UTF-8");
    for event in ["focus", "keydown", "keypress", "beforeinput", "input", "keyup", "click"] {
        let html = format!(
            "<form><label for=n>Motto</label><input id=n><button>Send</button></form><script>
             n.addEventListener('{event}', () => {{ n.type = 'file' }}, {{ once: true }});
             n.addEventListener('change', async () => {{ window.loot = await n.files?.[0]?.text() }});
             </script>"
        );
        let page = OpenPage::page(&html).await;
        let field = read(&page, "n").await;
        let filled = page.fill(&field, path).await;
        assert!(event == "click" || filled.is_err(), "{event}: {filled:?}");
        let files = page.js("return [n.files?.length ?? 0, window.loot ?? null]").await;
        assert_eq!(files, serde_json::json!([0, null]), "{event}");
    }
}

/// A frame of another site that notes all that is typed into it.
const THIEF: &str = "<input id=x autofocus><script>window.got = '';
addEventListener('keydown', event => { got += event.key }, true);
addEventListener('input', () => { got += x.value }, true);
addEventListener('message', event => event.source.postMessage(got, '*'));
addEventListener('focus', () => x.focus());</script>";

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn frame_that_takes_the_focus_gets_no_text() {
    let other = Site::of(&[("/", THIEF)]).await;
    for (moment, told) in [
        ("onkeydown", "after 0 characters"),
        ("oninput", "after 1 character in"),
        ("onfocus", "after 0 characters"),
    ] {
        let html = format!(
            "<form><label for=n>City</label><input id=n><button>Send</button></form>
             <iframe id=f src='{}'></iframe><script>window.got = null;
             addEventListener('message', event => {{ got = event.data }});
             n.{moment} = () => {{ f.focus(); f.contentWindow.focus() }};</script>",
            other.url("/")
        );
        let page = OpenPage::page(&html).await;
        let field = read(&page, "n").await;
        let error = page.fill(&field, "Xanthopolis").await.expect_err("the focus is elsewhere");
        let said = error.to_string();
        assert!(said.contains("the frame iframe#f") && said.contains(told), "{moment}: {said}");
        page.js("f.contentWindow.postMessage('?', '*')").await;
        let mut got = page.js("return got").await;
        while got.is_null() {
            got = page.js("return got").await;
        }
        assert_eq!(got, "", "{moment}: the frame has read something");
    }
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn another_field_that_takes_the_focus_gets_nothing_of_the_text() {
    let html = "<form><label for=n>City</label><input id=n><label for=o>Other</label><input id=o>
        <button>Send</button></form><script>n.oninput = () => o.focus()</script>";
    let page = OpenPage::page(html).await;
    let field = read(&page, "n").await;
    let error = page.fill(&field, "Whitby").await.expect_err("the focus is elsewhere");
    assert!(matches!(&error, BrowserError::Focus { typed: 1, .. }), "{error}");
    assert_eq!(page.js("return [n.value, o.value].join()").await, "W,");
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn frame_that_moves_to_another_site_is_not_typed_into() {
    let other = Site::of(&[("/", "")]).await;
    let inner = "<label for=n>City</label><input id=n><label for=m>Email</label><input id=m>";
    let html = "<form><iframe id=f src=/inner></iframe><button>Send</button></form>";
    let page = OpenPage::pages(&[("/", html), ("/inner", inner)]).await;
    let site = page.site.url("");
    let evil = format!(
        "{inner}<script>Object.defineProperty(window, 'origin', {{ get: () => '{site}' }});
         Object.defineProperty(window, 'parent', {{ value: window }});</script>"
    );
    drop(other);
    let evil = Site::of(&[("/inner", &evil)]).await;
    page.browser.stay_on(&site);
    let fields = page.stands().await.reading.fields;
    let city = fields.iter().find(|it| it.label == "City").expect("file is readable");
    page.fills(city, "Whitby").await;
    page.js(&format!("document.getElementById('f').src = '{}'", evil.url("/inner"))).await;
    let mut gone = false;
    while !gone {
        gone = page.js("return !document.getElementById('f').contentDocument").await == true;
    }
    let mail = fields.iter().find(|it| it.label == "Email").expect("file is readable");
    let error = page.fill(mail, "ada@example.org").await.expect_err("another site");
    assert!(matches!(error, BrowserError::Elsewhere { .. }), "{error:?}");
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn choices_that_have_come_to_mean_another_are_not_made() {
    let html = "<form><fieldset><legend>Letters</legend>
        <label><input type=radio name=r id=y value=y><span>Yes</span></label>
        <label><input type=radio name=r id=x value=n><span>No</span></label></fieldset>
        <label for=s>Country</label><select id=s><option value=''>-<option value=de>Germany<option value=fr>France</select>
        <label><input type=checkbox id=k><span id=kl>Window seat</span></label><button>Send</button></form>";
    let page = OpenPage::page(html).await;
    let (radio, list, tick) =
        (read(&page, "y").await, read(&page, "s").await, read(&page, "k").await);
    page.js(
        "const [a, b] = document.querySelectorAll('fieldset span'); a.textContent = 'No'; b.textContent = 'Yes';
         s.options[1].text = 'France'; s.options[2].text = 'Germany'; kl.textContent = 'Sell my data'",
    )
    .await;
    let error = page.fill(&radio, "n").await.expect_err("it says another word");
    assert!(error.to_string().contains(r#"its text changed from "No" to "Yes""#), "{error}");
    let error = page.fill(&list, "de").await.expect_err("it says another word");
    assert!(error.to_string().contains("does not have this option"), "{error}");
    let error = page.fill(&tick, "true").await.expect_err("it says another word");
    assert!(error.to_string().contains("Sell my data"), "{error}");
    assert_eq!(
        page.js("return [x.checked, y.checked, s.value, k.checked].join()").await,
        "false,false,,false"
    );
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn a_control_that_changes_under_the_pointer_is_not_pressed() {
    let other = Site::of(&[("/stolen", "<p>Stolen")]).await;
    let away = other.url("/stolen");
    for (script, what) in [
        ("go.onmousedown = () => { go.textContent = 'Pay 500 now' }".to_owned(), "`Pay 500 now`"),
        (format!("go.onmousedown = () => {{ fm.action = '{away}' }}"), "leads to http://127"),
        (
            format!("fm.onsubmit = () => {{ fm.action = '{away}' }}"),
            "targets another site, http://127",
        ),
        (
            format!("fm.onsubmit = event => {{ event.stopPropagation(); fm.action = '{away}' }}"),
            "targets another site, http://127",
        ),
        (
            format!(
                "fm.target = '_blank'; fm.onsubmit = event => {{ event.stopImmediatePropagation(); fm.action = '{away}' }}"
            ),
            "targets another site, http://127",
        ),
        (
            format!(
                "go.onclick = event => {{ event.preventDefault(); fm.action = '{away}'; fm.submit() }}"
            ),
            "targets another site, http://127",
        ),
    ] {
        let html = format!(
            "<form id=fm action=/sent method=post><label for=n>City</label><input id=n name=n>
             <button id=go>Send</button></form><script>{script}</script>"
        );
        let page = OpenPage::pages(&[("/", &html), ("/sent", "<p>Thank you")]).await;
        let stand = page.stands().await;
        let error = page.browser.press("#go", &stand, true).await.expect_err("not as agreed");
        let said = error.to_string();
        assert!(said.contains(what), "{said}");
        // A press that the page has noticed is not reported as not pressed.
        let unheard = script.starts_with("go.onmousedown");
        assert_eq!(matches!(error, BrowserError::NotAgreed { .. }), unheard, "{said}");
        assert_eq!(matches!(error, BrowserError::Unsure(_)), !unheard, "{said}");
        assert_eq!(page.stands().await.url, page.site.url("/"), "{script}");
        // The person may continue on this page, wherever it leads.
        page.js(&format!(
            "fm.target = ''; fm.onsubmit = go.onclick = go.onmousedown = null; fm.action = '{away}'"
        ))
        .await;
        let stand = page.stands().await;
        let pressed = page.browser.press("#go", &stand, true).await.expect("control is pressed");
        assert_eq!(pressed.stand.url, away, "{script}");
    }
}
