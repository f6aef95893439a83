//! What a page answers: by dialogs, by a status, in words, late, or not at all.

use std::time::Duration;

use pointsman_agents::form::FieldShape;
use pointsman_webdriver::browser::{BrowserError, FormRemainder, Navigation, PageResponse};

use super::{OpenPage, Site, field};

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn a_dialog_at_a_touch_is_answered_and_its_words_are_kept() {
    let page = OpenPage::page(
        "<input id=f onfocus=\"if (!window.once) { once = true; alert('Mind the gap') }\">
         <input id=b onblur=\"if (b.value.length < 3) alert('Too short')\">
         <input id=c onchange=\"alert('Changed')\">
         <input id=k oninput=\"if (k.value === 'A') alert('One key')\">
         <select id=s onchange=\"alert('Chosen')\"><option value=''>?<option value=x>X</select>
         <input type=range id=r min=0 max=9 value=1 oninput=\"alert('Slid')\">",
    )
    .await;
    let said = || page.browser.dialogs().into_iter().map(|it| it.text).collect::<Vec<_>>();
    page.fills(&field(FieldShape::Text, "#f"), "Ada").await;
    assert_eq!(said(), ["Mind the gap"]);
    page.fills(&field(FieldShape::Text, "#b"), "x").await;
    assert_eq!(said(), ["Too short"]);
    page.fills(&field(FieldShape::Text, "#c"), "Ada").await;
    assert_eq!(said(), ["Changed"]);
    page.fills(&field(FieldShape::Text, "#k"), "Ada").await;
    assert!(said().iter().all(|words| words == "One key"));
    page.fills(&field(FieldShape::Select, "#s"), "x").await;
    assert_eq!(said(), ["Chosen"]);
    page.fills(&field(FieldShape::Range, "#r"), "7").await;
    assert_eq!(said(), ["Slid"]);
    let values = page.js("return [f, b, c, k, s, r].map(it => it.value).join()").await;
    assert_eq!(values, "Ada,x,Ada,Ada,x,7");
    let gone =
        page.fill(&field(FieldShape::Text, "#nowhere"), "x").await.expect_err("nothing there");
    assert!(matches!(gone, BrowserError::NoElement { .. }), "{gone:?}");
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn a_yes_that_was_given_holds_for_a_late_question() {
    let html = "<form id=f action=/sent><label for=a>Name</label><input id=a name=a>
        <button type=button id=go onclick=\"setTimeout(() => confirm('Send?') && f.submit(), 400)\">
        Send</button></form>";
    let page = OpenPage::pages(&[("/", html), ("/sent", "<p>Thank you")]).await;
    let pressed = page.press("#go", true).await;
    assert!(pressed.has_moved() && pressed.dialogs[0].accepted, "{pressed:?}");
    page.browser.goto(&page.site.url("/")).await.expect("page loads");
    let pressed = page.press("#go", false).await;
    assert!(!pressed.has_moved() && !pressed.dialogs[0].accepted, "{pressed:?}");
    // It held for that press alone.
    page.js("setTimeout(() => window.yes = confirm('And now?'), 0)").await;
    page.browser.words().await.expect("text is present");
    assert_eq!(page.js("return window.yes").await, false);
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn a_page_at_work_is_waited_for() {
    let page = OpenPage::page(
        "<form onsubmit='event.preventDefault()'><label for=a>Name</label><input id=a>
         <button type=button id=go onclick=\"this.disabled = true; this.textContent = 'Please wait';
           setTimeout(() => { document.forms[0].innerHTML = '<label for=b>Town</label><input id=b>' }, 1500)\">
         Next</button></form>",
    )
    .await;
    let pressed = page.press("#go", false).await;
    assert_eq!((pressed.went, pressed.rest), (Navigation::On, FormRemainder::Gone), "{pressed:?}");
    assert_eq!(pressed.stand.reading.fields[0].selector, "#b");
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn reaction_of_a_page_to_a_form_is_detected() {
    let form = |more: &str| {
        format!(
            "<form id=f action=/again onsubmit='send(event)'><label for=a>Name</label>
             <input id=a name=a value=Ada><p id=p></p>{more}<button id=go>Send</button></form>"
        )
    };
    let stays = |script: &str, more: &str| {
        format!(
            "{}<script>function send(event) {{ event.preventDefault(); {script} }}</script>",
            form(more)
        )
    };
    let seen = async |html: &str| {
        let page = OpenPage::pages(&[("/", html), ("/again", &form(""))]).await;
        let pressed = page.press("#go", true).await;
        (pressed.went, pressed.answer, pressed.rest)
    };
    let alert = "<div role=alert id=w></div>";
    let error = "<div role=alert class=error-box id=w></div>";
    let nothing = seen(&stays("", "")).await;
    assert_eq!(nothing, (Navigation::Nowhere, PageResponse::Nothing, FormRemainder::Filled));
    let thanks = seen(&stays("w.textContent = 'Thank you'", alert)).await;
    assert_eq!(thanks, (Navigation::Nowhere, PageResponse::Words, FormRemainder::Filled));
    let wrong = seen(&stays("w.textContent = 'No such thing'", error)).await;
    assert_eq!(wrong, (Navigation::Nowhere, PageResponse::Error, FormRemainder::Filled));
    let emptied = seen(&stays("a.value = ''", "")).await;
    assert_eq!(emptied, (Navigation::Nowhere, PageResponse::Nothing, FormRemainder::Emptied));
    let gone = seen(&stays("f.innerHTML = '<p>Thank you'", "")).await;
    assert_eq!(gone, (Navigation::On, PageResponse::Words, FormRemainder::Gone));
    let again = seen(&form("").replace(" onsubmit='send(event)'", "")).await;
    assert_eq!(again, (Navigation::Anew, PageResponse::Nothing, FormRemainder::Filled));
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn the_status_of_a_page_is_known() {
    let page = OpenPage::page("<p>Here").await;
    assert_eq!(page.stands().await.status, Some(200));
    page.browser.goto(&page.site.url("/nowhere")).await.expect("page loads");
    assert_eq!(page.stands().await.status, Some(404));
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn nothing_is_touched_on_another_site() {
    let html = "<label for=a>Name</label><input id=a><select id=s><option>x<option>y</select>
        <input type=checkbox id=k><button id=go>Next</button>
        <iframe id=frame srcdoc='<input id=in>'></iframe>";
    let other = Site::of(&[("/", html)]).await;
    let page = OpenPage::page(html).await;
    page.browser.stay_on(&page.site.url(""));
    page.fills(&field(FieldShape::Text, "#a"), "Ada").await;
    page.fills(&field(FieldShape::Text, "#frame >>> #in"), "Ada").await;
    page.browser.goto(&other.url("/")).await.expect("page loads");
    let stand = page.stands().await;
    let touch = async |shape: FieldShape, selector: &str, value: &str| {
        let error = page.fill(&field(shape, selector), value).await.expect_err("not here");
        assert!(
            matches!(&error, BrowserError::Elsewhere { origin } if *origin == other.url("")),
            "{error:?}"
        );
        assert!(!error.is_repeatable());
    };
    touch(FieldShape::Text, "#a", "Ada").await;
    touch(FieldShape::Select, "#s", "y").await;
    touch(FieldShape::Checkbox, "#k", "true").await;
    touch(FieldShape::Text, "#frame >>> #in", "Ada").await;
    let error = page.browser.press("#go", &stand, false).await.expect_err("not here");
    assert!(matches!(error, BrowserError::Elsewhere { .. }), "{error:?}");
    let looked = page.browser.verify(&field(FieldShape::Text, "#a"), "Ada").await;
    assert!(matches!(looked, Err(BrowserError::Elsewhere { .. })), "{looked:?}");
    let held =
        page.js("return [a.value, s.value, k.checked, document.activeElement.localName].join()");
    assert_eq!(held.await, ",x,false,body");
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn removed_frame_is_not_mistaken_for_the_page() {
    let page =
        OpenPage::page("<input id=in><iframe id=frame srcdoc='<input id=in>'></iframe>").await;
    let inside = field(FieldShape::Text, "#frame >>> #in");
    page.fills(&inside, "inside").await;
    // It goes while we are in it. The twin at the top has the same name.
    page.js("setTimeout(() => document.getElementById('frame').remove(), 1500)").await;
    drop(page.browser.insert(&inside, "again").await);
    tokio::time::sleep(Duration::from_secs(2)).await;
    let error = page.fill(&inside, "outside").await.expect_err("target is gone");
    assert!(matches!(error, BrowserError::NoElement { .. }), "{error:?}");
    assert_eq!(page.js("return document.getElementById('in').value").await, "");
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn a_field_costs_three_commands() {
    let page = OpenPage::page("<input id=a><select id=s><option>x<option>y</select>").await;
    page.fills(&field(FieldShape::Text, "#a"), "warm").await;
    let before = page.browser.commands();
    page.fills(&field(FieldShape::Text, "#a"), "Ada").await;
    assert_eq!(page.browser.commands() - before, 3, "go there, type, leave and look");
    page.fills(&field(FieldShape::Select, "#s"), "y").await;
    assert_eq!(page.browser.commands() - before, 6, "go there, choose, leave and look");
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn redaction_hides_typed_and_repeated_values() {
    // A page that forbids all styles, and repeats its input.
    let page = OpenPage::page(
        "<meta http-equiv=Content-Security-Policy content=\"style-src 'none'\">
         <pre>Dear <b id=w></b>, thank you</pre><input id=a><input type=range id=r>
         <select id=s multiple><option>one<option>two</select><div id=h></div>
         <div role=checkbox id=k>x</div>
         <script>h.attachShadow({ mode: 'open' }).innerHTML = '<pre id=q></pre>'</script>",
    )
    .await;
    let shows = async |value: &str, slid: u8| {
        page.js(&format!(
            "w.innerHTML = '{value}'.replace(' ', '<i> </i>'); h.shadowRoot.getElementById('q').textContent = '{value}';
             a.value = '{value}'; r.value = {slid}; s.selectedIndex = {slid} % 2; k.textContent = '{slid}'"
        ))
        .await;
        let values = [value.to_uppercase()];
        let plain = page.browser.screenshot().await.expect("screenshot is taken");
        (plain, page.browser.veiled_screenshot(&values).await.expect("screenshot is taken"))
    };
    let (ada, veiled_ada) = shows("Ada Lovelace", 1).await;
    let (bob, veiled_bob) = shows("Bob Marshall", 8).await;
    assert!(ada != bob, "the pictures cannot be told apart at all");
    assert!(veiled_ada == veiled_bob, "a picture tells what was typed");
    assert!(page.browser.screenshot().await.expect("screenshot is taken") == bob, "the veil stays");
}
