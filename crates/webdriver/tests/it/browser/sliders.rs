//! Custom sliders: reading, moving by keys, and checking.

use pointsman_agents::form::{Field, FieldShape};

use super::OpenPage;

/// Three sliders of a role: one that knows every key, one that knows arrows alone and is
/// drawn late, and one that runs from right to left.
const ROLES: &str = "<form>
<label id=l1>Volume</label><div id=v role=slider tabindex=0 aria-labelledby=l1 aria-valuemin=0 aria-valuemax=1000 aria-valuenow=500></div>
<label id=l2>Heat</label><div id=h role=slider tabindex=0 aria-labelledby=l2 aria-valuemin=-10 aria-valuemax=10 aria-valuenow=0></div>
<label id=l3>Mirror</label><div id=m role=slider tabindex=0 aria-labelledby=l3 aria-valuemin=0 aria-valuemax=2 aria-valuenow=1></div>
<button>Send</button></form>
<style>[role=slider] { width: 100px; height: 20px; background: #ccc }</style>
<script>window.keys = 0; window.trusted = true;
const bind = (id, moves, wait) => document.getElementById(id).addEventListener('keydown', event => {
  const it = event.currentTarget, at = name => Number(it.getAttribute(name));
  keys += 1; trusted &&= event.isTrusted;
  const by = moves[event.key];
  if (by === undefined) return;
  const to = Math.max(at('aria-valuemin'), Math.min(at('aria-valuemax'), at('aria-valuenow') + by));
  const draw = () => it.setAttribute('aria-valuenow', Math.round(to * 10) / 10);
  wait ? queueMicrotask(draw) : draw();
});
bind('v', { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 50, PageDown: -50, Home: -1e9, End: 1e9 });
bind('h', { ArrowUp: 0.5, ArrowDown: -0.5 }, true);
bind('m', { ArrowRight: -0.1, ArrowLeft: 0.1 });
</script>";

/// Sliders of a well-known library: no role, no value, and a handle that takes keys. Only a
/// function of the page reports their value.
const LIBRARY: &str = "<div id=area><p>Size</p><div id=size></div><p>Span</p><div id=span></div><button>Send</button></div>
<style>.ui-slider { position: relative; width: 120px; height: 12px; background: #ccc }
.ui-slider-handle { position: absolute; width: 12px; height: 12px; background: #444 }</style>
<script>
const state = new Map();
window.jQuery = element => ({ slider: (asked, name) => {
  if (!state.has(element)) throw new Error('cannot call methods on slider prior to initialization');
  return asked === 'value' ? state.get(element).value : name ? state.get(element)[name] : state.get(element);
} });
const make = (element, options, handles) => {
  element.className = 'ui-slider ui-corner-all ui-slider-horizontal ui-widget ui-widget-content';
  state.set(element, options);
  for (let at = 0; at < handles; at += 1) {
    const handle = element.appendChild(document.createElement('span'));
    handle.tabIndex = 0;
    handle.className = 'ui-slider-handle ui-corner-all ui-state-default';
    handle.addEventListener('keydown', ({ key }) => {
      const page = (options.max - options.min) / 5;
      const by = { Home: -Infinity, End: Infinity, PageUp: page, PageDown: -page,
        ArrowUp: options.step, ArrowRight: options.step, ArrowDown: -options.step, ArrowLeft: -options.step }[key];
      if (by) options.value = Math.max(options.min, Math.min(options.max, options.value + by));
    });
  }
};
make(size, { min: -100, max: 0, step: 1, value: -13, values: null, disabled: false }, 1);
make(span, { min: 0, max: 9, step: 1, value: 0, values: [2, 5], disabled: false }, 2);
</script>";

async fn fields(page: &OpenPage) -> Vec<Field> {
    page.stands().await.reading.fields
}

fn by_id<'a>(fields: &'a [Field], id: &str) -> &'a Field {
    let found = fields.iter().find(|it| it.attributes.get("id").is_some_and(|it| it == id));
    found.unwrap_or_else(|| panic!("no #{id} in {fields:?}"))
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn sliders_of_a_role_are_moved_by_keys() {
    let page = OpenPage::page(ROLES).await;
    let fields = fields(&page).await;
    for (id, label, values) in [
        ("v", "Volume", &["731", "0", "999", "500"][..]),
        ("h", "Heat", &["-3.5", "10"]),
        ("m", "Mirror", &["1.7", "0.3"]),
    ] {
        let field = by_id(&fields, id);
        assert_eq!((field.shape, field.label.as_str()), (FieldShape::Range, label));
        for value in values {
            page.fills(field, value).await;
            let script = format!("return document.getElementById('{id}').ariaValueNow");
            assert_eq!(page.js(&script).await, *value, "{id}");
        }
    }
    assert_eq!(by_id(&fields, "v").limits.max.as_deref(), Some("1000"));
    assert!(page.js("return trusted && keys < 400").await == true);
    // A value between its steps is reported, and no key is pressed forever.
    let missed = page.fill(by_id(&fields, "h"), "0.25").await.expect_err("slider lacks the value");
    assert!(missed.to_string().contains("its closest value is"), "{missed}");
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn a_librarys_slider_is_a_field_and_is_moved_by_its_handle() {
    let page = OpenPage::page(LIBRARY).await;
    let fields = fields(&page).await;
    let size = by_id(&fields, "size");
    assert_eq!(size.shape, FieldShape::Range);
    assert_eq!((size.selector.as_str(), size.value.as_deref()), ("#size", Some("-13")));
    let limits = [&size.limits.min, &size.limits.max, &size.limits.step];
    assert_eq!(limits.map(Option::as_deref), [Some("-100"), Some("0"), Some("1")]);
    for value in ["-87", "0", "-50"] {
        page.fills(size, value).await;
        assert_eq!(page.js("return String(state.get(size).value)").await, value);
    }
    // Two handles are two values, which one field cannot say.
    assert_eq!(by_id(&fields, "span").shape, FieldShape::Unsupported);
}

/// The number that a page shows beside a slider is read as the name of the next one. It changes
/// with the first slider's value, and the second one is still the field that was read.
#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn number_shown_for_one_slider_does_not_change_the_next() {
    let html = "<form><input type=range id=a max=20 value=4><div id=shown>4</div>
        <input type=range id=b max=20 value=9><button>Send</button></form>
        <script>a.oninput = () => { shown.textContent = window.says ?? a.value }</script>";
    let page = OpenPage::page(html).await;
    let read = fields(&page).await;
    assert_eq!(by_id(&read, "b").label, "4");
    page.fills(by_id(&read, "a"), "17").await;
    page.fills(by_id(&read, "b"), "12").await;
    assert_eq!(page.js("return [a.value, b.value, shown.textContent].join()").await, "17,12,17");

    page.js("window.says = 'Tip'").await;
    page.fills(by_id(&read, "a"), "3").await;
    let error = page.fill(by_id(&read, "b"), "5").await.expect_err("a word names it now");
    assert!(error.to_string().contains(r#"its label changed from "4" to "Tip""#), "{error}");
}
