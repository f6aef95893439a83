//! Every shape takes a value, and what becomes of it is seen.

use pointsman_agents::form::FieldShape;
use pointsman_webdriver::browser::BrowserError;

use super::{OpenPage, among, field, folder};

/// Notes which events each element has seen.
const SPY: &str = "<script>window.seen = {};
for (const name of ['keydown', 'input', 'change', 'blur', 'submit']) addEventListener(name, event => {
  const id = event.target.id;
  (seen[id] ||= []).push(name + (event.isTrusted ? '' : '?'));
}, true);</script>";

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn lines_and_numbers_are_typed() {
    let page = OpenPage::page(&format!(
        "{SPY}<form onsubmit='event.preventDefault()'><input id=a><input id=b value='old one'>
         <textarea id=c></textarea><input id=d type=number step=0.1><input id=e type=password>
         <div id=f contenteditable>before</div><input id=g maxlength=3>
         <div style='height: 4000px'></div><input id=far><button>Send</button></form>"
    ))
    .await;
    page.fills(&field(FieldShape::Text, "#a"), "Grüße, 世界 & <b>").await;
    page.fills(&field(FieldShape::Text, "#b"), "new").await;
    // A line takes no Enter, which would send the form, and no key that a text hides.
    page.browser
        .insert(&field(FieldShape::Text, "#a"), "one\ntwo\u{E007}\tx")
        .await
        .expect("field is filled");
    assert_eq!(page.js("return a.value").await, "one two x");
    page.fills(&field(FieldShape::Textarea, "#c"), "one\ntwo\n\nfour").await;
    page.fills(&field(FieldShape::Number, "#d"), "12.5").await;
    page.fills(&field(FieldShape::Password, "#e"), "p@ss wörd").await;
    page.fills(&field(FieldShape::Richtext, "#f"), "Dear all,\nhello").await;
    page.fills(&field(FieldShape::Text, "#far"), "down here").await;
    assert_eq!(
        page.js("return [b.value, c.value, d.value, e.value]").await,
        serde_json::json!(["new", "one\ntwo\n\nfour", "12.5", "p@ss wörd"])
    );
    assert!(
        page.js("return seen.b.includes('keydown?') && seen.b.at(-1) === 'blur'").await == true
    );
    assert!(page.js("return Object.values(seen).flat().includes('submit')").await == false);
    // A script sends the key events, because a browser's keys go wherever the focus is. The
    // browser itself inserts the text, as when a person types.
    let told = "return Object.values(seen).flat().filter(it => it.endsWith('?')).every(it => it === 'keydown?')";
    assert!(page.js(told).await == true);

    // Emoji have no keys, and a long text is pasted: the page notices both.
    page.fills(&field(FieldShape::Text, "#b"), "fine \u{1F600}").await;
    let long = "word ".repeat(1_000);
    page.fills(&field(FieldShape::Textarea, "#c"), long.trim()).await;
    assert!(page.js("return seen.c.includes('input') && c.value.length === 4999").await == true);
    // What the page cuts is not what was wanted.
    let cut = page.fill(&field(FieldShape::Text, "#g"), "abcdef").await.expect("field is filled");
    assert!(!cut.kept || cut.complaint.is_some(), "{cut:?}");
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn days_times_and_keyless_inputs_are_filled() {
    let page = OpenPage::page(
        "<input id=d type=date><input id=t type=time><input id=l type=datetime-local>
         <input id=m type=month><input id=w type=week><input id=r type=range min=0 max=50 step=5>
         <input id=c type=color><script>heard = [];
         addEventListener('input', event => heard.push(event.target.id), true);
         addEventListener('change', event => heard.push(event.target.id), true);</script>",
    )
    .await;
    for (shape, selector, value) in [
        (FieldShape::Date, "#d", "2001-12-31"),
        (FieldShape::Time, "#t", "22:05"),
        (FieldShape::DatetimeLocal, "#l", "2001-12-31T00:30"),
        (FieldShape::Month, "#m", "2001-02"),
        (FieldShape::Week, "#w", "2001-W07"),
        (FieldShape::Range, "#r", "35"),
        (FieldShape::Color, "#c", "#ff8800"),
    ] {
        let field = field(shape, selector);
        page.browser.insert(&field, value).await.expect("field is filled");
        let held = page.js(&format!("return document.querySelector('{selector}').value")).await;
        assert_eq!(held, value, "{shape}");
        // A second time over the existing text.
        page.fills(&field, value).await;
    }
    page.fills(&field(FieldShape::Date, "#d"), "1999-01-02").await;
    assert_eq!(page.js("return d.value").await, "1999-01-02");
    assert!(page.js("return [...'dtlmwrc'].every(id => heard.includes(id))").await == true);
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn masked_and_controlled_inputs_keep_the_value() {
    // The second input is like a framework's: only trusted input changes its state, and any other
    // content is reset. The third is rendered again at every key.
    let page = OpenPage::page(
        "<input id=m><input id=c><div id=host></div><script>
         m.addEventListener('input', () => {
           const digits = m.value.replace(/\\D/g, '').slice(0, 10);
           m.value = digits.replace(/^(\\d{3})(\\d{1,3})?(\\d{1,4})?/, (_, a, b, c) =>
             '(' + a + ')' + (b ? ' ' + b : '') + (c ? '-' + c : ''));
         });
         let state = '';
         c.addEventListener('input', event => { if (event.isTrusted) state = c.value; c.value = state; });
         c.addEventListener('blur', () => { c.value = state; });
         let kept = '';
         const render = () => {
           host.innerHTML = '<input id=again>';
           again.value = kept;
           again.oninput = () => { kept = again.value; setTimeout(render, 0); };
         };
         render();
         </script>",
    )
    .await;
    let found =
        page.fill(&field(FieldShape::Text, "#m"), "5551234567").await.expect("field is filled");
    assert_eq!(found.value, "(555) 123-4567");
    page.fills(&field(FieldShape::Text, "#c"), "Ada Lovelace").await;
    page.fills(&field(FieldShape::Text, "#c"), "Grace Hopper").await;
    assert_eq!(page.js("return state").await, "Grace Hopper");
    page.fills(&field(FieldShape::Text, "#again"), "Ada").await;
    assert_eq!(page.js("return kept").await, "Ada");
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn buttons_and_boxes_are_clicked_only_when_they_differ() {
    let page = OpenPage::page(
        "<style>.over { position: relative } .over input { opacity: 0; position: absolute }
         .over i { position: absolute; inset: 0; background: #eee; width: 200px }
         .gone input { display: none }</style>
         <form><label><input type=radio name=r id=r1 value=one>One</label>
         <label><input type=radio name=r id=r2 value=two>Two</label>
         <div class=over><input type=radio name=s id=s1 value=x><label for=s1>Covered<i></i></label></div>
         <label class=gone><input type=checkbox id=k1><b>Styled</b></label>
         <input type=checkbox id=k2 checked>
         <div role=checkbox id=k3 aria-checked=false tabindex=0
           onclick=\"this.setAttribute('aria-checked', this.getAttribute('aria-checked') !== 'true')\">Own</div>
         <input type=checkbox id=k4 disabled></form>
         <script>clicks = 0; addEventListener('change', () => clicks += 1, true);</script>",
    )
    .await;
    let radio =
        among(field(FieldShape::Radio, "#r1"), &[("one", "One", "#r1"), ("two", "Two", "#r2")]);
    page.fills(&radio, "two").await;
    page.fills(&radio, "two").await;
    assert_eq!(page.js("return clicks").await, 1);
    page.fills(&among(field(FieldShape::Radio, "#s1"), &[("x", "Covered", "#s1")]), "x").await;
    page.fills(&field(FieldShape::Checkbox, "#k1"), "true").await;
    page.fills(&field(FieldShape::Checkbox, "#k2"), "true").await;
    assert_eq!(page.js("return clicks").await, 3);
    page.fills(&field(FieldShape::Checkbox, "#k2"), "false").await;
    page.fills(&field(FieldShape::Checkbox, "#k3"), "true").await;
    let off = page
        .fill(&field(FieldShape::Checkbox, "#k4"), "true")
        .await
        .expect_err("field is switched off");
    assert_eq!(off.to_string(), "`#k4` cannot be used: the page has disabled it");
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn shadow_roots_frames_codes_and_files() {
    let page = OpenPage::page(
        "<div id=host></div><iframe id=frame srcdoc=\"<input id=in><iframe id=deep srcdoc='<input id=x>'></iframe>\"></iframe>
         <div id=codes><input maxlength=1 id=c1><input maxlength=1 id=c2><input maxlength=1 id=c3></div>
         <input type=file id=file><input id=after><script>
         host.attachShadow({ mode: 'open' }).innerHTML = '<span id=inner></span>';
         const inner = host.shadowRoot.getElementById('inner').attachShadow({ mode: 'open' });
         inner.innerHTML = '<input id=deep>';
         const all = [c1, c2, c3];
         all.forEach((box, at) => box.addEventListener('input', () => box.value && all[at + 1]?.focus()));
         </script>",
    )
    .await;
    page.fills(&field(FieldShape::Text, "#host >>> #inner >>> #deep"), "in the shadow").await;
    page.fills(&field(FieldShape::Text, "#frame >>> #in"), "in a frame").await;
    page.fills(&field(FieldShape::Text, "#frame >>> #deep >>> #x"), "in two").await;
    page.fills(&field(FieldShape::Text, "#frame >>> #in"), "and back").await;
    page.fills(&field(FieldShape::Text, "#after"), "at the top").await;
    assert_eq!(
        page.js("return frame.contentDocument.getElementById('in').value").await,
        "and back"
    );
    let boxes = [("1", "1", "#c1"), ("2", "2", "#c2"), ("3", "3", "#c3")];
    let codes = among(field(FieldShape::Codes, "#c1"), &boxes);
    page.fills(&codes, "407").await;
    page.fills(&codes, "815").await;
    assert_eq!(page.js("return all.map(it => it.value).join('')").await, "815");

    let file = folder("file").join("a letter.txt");
    std::fs::write(&file, "hello").expect("file is writable");
    page.fills(&field(FieldShape::File, "#file"), file.to_str().expect("path is UTF-8")).await;
    assert_eq!(page.js("return file.files[0].size").await, 5);
    for (path, why) in [("letter.txt", "must be absolute"), ("/no/such/letter", "does not exist")] {
        let error = page
            .fill(&field(FieldShape::File, "#file"), path)
            .await
            .expect_err("file is not attached");
        assert!(error.to_string().contains(why), "{error}");
    }
    let error =
        page.fill(&field(FieldShape::Text, "#nowhere"), "x").await.expect_err("nothing there");
    assert!(matches!(error, BrowserError::NoElement { .. }), "{error:?}");
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn complaints_are_seen_and_old_ones_are_not() {
    let page = OpenPage::page(
        "<form><div><label for=a>Email</label><input id=a type=email></div>
         <div><label for=b>Nickname</label><input id=b aria-describedby='b-hint b-error'>
           <span id=b-hint>Two words</span><span id=b-error hidden>Too short a name</span></div>
         <div class=group><label for=c>Old trouble</label><input id=c aria-describedby=c-error>
           <p id=c-error class=error>Enter something</p></div>
         <div role=alert id=all></div>
         <div><label for=d>Town</label><input id=d></div>
         <div><label for=e>Code</label><input id=e><em class=field-error id=ee></em></div></form>
         <script>
         b.onblur = () => { const bad = b.value.length < 3; document.getElementById('b-error').hidden = !bad; b.setAttribute('aria-invalid', bad); };
         d.onblur = () => { document.getElementById('all').textContent = d.value === 'X' ? 'There is no such Town' : ''; };
         e.onblur = () => { ee.textContent = e.value === '1' ? 'Four digits, please' : ''; };
         </script>",
    )
    .await;
    let said = async |selector: &str, value: &str| {
        page.fill(&field(FieldShape::Text, selector), value)
            .await
            .expect("field is filled")
            .complaint
    };
    let email = said("#a", "no address").await.expect("the browser's own words");
    assert!(email.contains('@'), "{email}");
    assert_eq!(said("#a", "a@example.org").await, None);
    assert_eq!(said("#b", "x").await.as_deref(), Some("Too short a name"));
    assert_eq!(said("#b", "x y").await, None);
    assert_eq!(said("#b", "x").await.as_deref(), Some("Too short a name"));
    // It stood there before, and nothing on this page will take it back.
    assert_eq!(said("#c", "something").await, None);
    assert_eq!(said("#d", "X").await.as_deref(), Some("There is no such Town"));
    assert_eq!(said("#e", "1234").await, None, "the alert is about another field");
    assert_eq!(said("#e", "1").await.as_deref(), Some("Four digits, please"));
    assert_eq!(said("#d", "Bern").await, None);
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn a_box_that_takes_its_time_is_clicked_once() {
    let page = OpenPage::page(
        "<div role=checkbox id=k aria-checked=false tabindex=0 onclick=\"clicks += 1; setTimeout(() =>
           k.setAttribute('aria-checked', k.getAttribute('aria-checked') !== 'true'), 60)\">Own</div>
         <script>clicks = 0</script>",
    )
    .await;
    page.fills(&field(FieldShape::Checkbox, "#k"), "true").await;
    assert_eq!(page.js("return clicks").await, 1);
}
