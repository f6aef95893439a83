//! Pages that load late, never stop changing, ask, lead on, or lead away.

use std::time::Duration;

use pointsman_kernel::agent::FaultClass;
use pointsman_webdriver::browser::BrowserError;

use super::{OpenPage, Site};

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn late_fields_are_waited_for_and_a_picture_is_not() {
    let page = OpenPage::page(
        "<form id=f><label for=a>Name</label><input id=a></form><img src=/slow><script>
         for (let at = 0; at < 5; at += 1) setTimeout(() => f.insertAdjacentHTML('beforeend',
           `<label for=l${at}>Late ${at}</label><input id=l${at}>`), at * 60);
         </script>",
    )
    .await;
    let stand = page.stands().await;
    assert_eq!(stand.reading.fields.len(), 6, "{:?}", stand.reading.fields);
    assert_eq!(stand.origin, page.site.url(""));
    let again = page.stands().await;
    assert_eq!(stand.fingerprint, again.fingerprint);
    page.js("a.value = 'typed'").await;
    assert_eq!(page.stands().await.fingerprint, stand.fingerprint, "values do not count");
    page.js("document.getElementById('l4').remove()").await;
    assert_ne!(page.stands().await.fingerprint, stand.fingerprint);
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn ever_changing_page_is_reported_with_its_changes() {
    let page = OpenPage::page(
        "<form><label for=a>Name</label><input id=a><span id=more></span></form><script>
         let at = 0;
         setInterval(() => { at += 1; more.innerHTML = `<label>Field ${at} <input id=f${at}></label>`; }, 30);
         </script>",
    )
    .await;
    let error = page.browser.settle(Duration::from_secs(5)).await.expect_err("page never settles");
    assert_eq!(error.class(), FaultClass::Timeout);
    let told = error.to_string();
    assert!(
        told.starts_with("the page kept changing for 5 s: its fields kept changing (#f"),
        "{told}"
    );
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn controls_lead_on_or_the_page_says_why_not() {
    let page = OpenPage::pages(&[
        (
            "/",
            "<form action=/two><label for=a>Name</label><input id=a name=a required>
             <button id=go>Continue</button></form>
             <button id=soft onclick=\"setTimeout(() => { document.body.innerHTML =
               '<label for=b>Next</label><input id=b>' }, 300)\">Next</button>
             <button id=wrong onclick=\"e.textContent = 'Not like this'\">Check</button>
             <div role=alert id=e></div><button id=off disabled>Off</button>
             <div style='position: relative'><button id=under>Under</button>
             <div style='position: absolute; inset: 0; background: #ccc'></div></div>",
        ),
        ("/two", "<title>Two</title><label for=c>City</label><input id=c>"),
    ])
    .await;
    // The browser itself keeps a form back that misses something.
    let pressed = page.press("#go", false).await;
    assert!(!pressed.has_moved(), "{pressed:?}");
    let pressed = page.press("#wrong", false).await;
    assert!(!pressed.has_moved() && pressed.complaints[0].text == "Not like this", "{pressed:?}");
    let stand = page.stands().await;
    for (selector, why) in [("#off", "disabled it"), ("#under", "covers it")] {
        let error = page
            .browser
            .press(selector, &stand, false)
            .await
            .expect_err("control cannot be pressed");
        assert!(error.to_string().contains(why), "{error}");
    }
    let pressed = page.press("#soft", false).await;
    assert!(pressed.has_moved() && pressed.stand.reading.fields[0].selector == "#b", "{pressed:?}");

    page.browser.goto(&page.site.url("/")).await.expect("page loads");
    page.js("a.value = 'x'").await;
    let pressed = page.press("#go", false).await;
    assert!(pressed.has_moved() && pressed.stand.title == "Two", "{pressed:?}");
    assert_eq!(page.browser.words().await.expect("text is present"), "City");
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn unapproved_dialogs_are_dismissed_and_reported() {
    let page = OpenPage::pages(&[
        (
            "/",
            "<form action=/sent onsubmit=\"return confirm('Send it now?')\"><label for=a>Name</label>
             <input id=a name=a><button id=go>Send</button></form>
             <button id=word onclick=\"t.textContent = prompt('Who are you?') === null ? 'nobody' : 'somebody'\">Ask</button><p id=t></p>
             <script>addEventListener('beforeunload', event => { event.preventDefault(); event.returnValue = 'x'; });</script>",
        ),
        ("/sent", "<p>Thank you"),
    ])
    .await;
    let pressed = page.press("#word", false).await;
    assert_eq!(pressed.dialogs.len(), 1, "{pressed:?}");
    assert!(pressed.dialogs[0].text == "Who are you?" && !pressed.dialogs[0].accepted);
    assert_eq!(page.js("return t.textContent").await, "nobody");
    let pressed = page.press("#go", false).await;
    assert!(!pressed.has_moved() && pressed.dialogs[0].text == "Send it now?", "{pressed:?}");
    let pressed = page.press("#go", true).await;
    assert!(pressed.has_moved() && pressed.dialogs[0].accepted, "{pressed:?}");
    assert!(pressed.stand.url.ends_with("/sent?a="), "{}", pressed.stand.url);
    // One that opens while nothing is pressed does not matter.
    page.js("setTimeout(() => alert('Boo'), 0)").await;
    assert_eq!(page.browser.words().await.expect("text is present"), "Thank you");
    assert!(page.browser.dialogs().iter().all(|dialog| dialog.text == "Boo" && !dialog.accepted));
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn other_origin_and_new_window_are_reported() {
    let other = Site::of(&[("/", "<label for=x>Card</label><input id=x>")]).await;
    let away = format!("-> {}", other.url("/"));
    let page = OpenPage::pages(&[
        (
            "/",
            "<form action=/away><label for=a>Name</label><input id=a><button id=go>Next</button></form>
             <button id=open onclick=\"window.open('/new')\">Help</button>",
        ),
        ("/away", &away),
        ("/new", "<p>New"),
    ])
    .await;
    let before = page.stands().await;
    let pressed = page.press("#open", false).await;
    assert_eq!((pressed.windows, pressed.has_moved()), (1, false), "{pressed:?}");
    let pressed = page.press("#go", false).await;
    assert!(pressed.has_moved() && pressed.stand.origin == other.url(""), "{pressed:?}");
    assert_ne!(pressed.stand.origin, before.origin);
    let nowhere =
        page.browser.goto("http://example.org/").await.expect_err("address is out of reach");
    assert!(matches!(nowhere, BrowserError::Address { .. }), "{nowhere:?}");
}
