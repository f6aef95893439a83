//! Invisible fields are not filled, however they are hidden; merely styled ones are.

use pointsman_agents::form::{FieldShape, Fill};

use super::{OpenPage, field};

/// Ways to hide a line: its own style, its parent's, and markup after it.
const HIDINGS: [(&str, &str, &str, &str); 34] = [
    ("opacity", "opacity: .02", "", ""),
    ("opacities", "opacity: .3", "opacity: .3", ""),
    ("inset", "clip-path: inset(49.9%)", "", ""),
    ("polygon", "clip-path: polygon(0 0, 0 0, 0 0)", "", ""),
    ("circle", "clip-path: circle(0 at 0 0)", "", ""),
    ("ellipse", "clip-path: ellipse(0 0)", "", ""),
    ("path", "clip-path: path('M0 0')", "", ""),
    ("outer-polygon", "", "clip-path: polygon(0 0, 0 0, 0 0)", ""),
    ("small", "width: 2px; height: 2px; border: 0; padding: 0", "", ""),
    ("outer-small", "", "height: 2px; overflow: hidden", ""),
    ("fixed-below", "position: fixed; top: 9000px", "", ""),
    ("fixed-left", "", "position: fixed; left: -9000px", ""),
    ("filter", "filter: opacity(0)", "", ""),
    ("outer-filter", "", "filter: opacity(3%)", ""),
    ("mask", "mask-image: linear-gradient(transparent, transparent)", "", ""),
    ("outer-mask", "", "mask-image: linear-gradient(transparent, transparent)", ""),
    ("transparent", "color: transparent; background: transparent; border: 0; outline: 0", "", ""),
    ("white", "color: #fff; background: #fff; border: 1px solid #fff", "", ""),
    ("backface", "backface-visibility: hidden; transform: rotateY(180deg)", "", ""),
    ("edge-on", "transform: rotateY(90deg)", "", ""),
    ("scaled", "transform: scale(.02)", "", ""),
    ("clip-fixed", "position: fixed; top: 0; clip: rect(0, 0, 0, 0)", "", ""),
    ("clip", "position: absolute; clip: rect(2px, 3px, 3px, 2px)", "", ""),
    (
        "overflow",
        "position: absolute; left: 500px",
        "position: relative; overflow: hidden; width: 200px; height: 30px",
        "",
    ),
    ("scrolled", "margin-top: 200px", "overflow: hidden; height: 30px", ""),
    ("behind", "position: relative; z-index: -1", "", ""),
    (
        "covered",
        "",
        "position: relative",
        "<i style='position: absolute; inset: 0; background: #fff'></i>",
    ),
    (
        "covered-through",
        "",
        "position: relative",
        "<i style='position: absolute; inset: 0; background: #fff; pointer-events: none'></i>",
    ),
    (
        "picture",
        "",
        "position: relative",
        "<img alt='' style='position: absolute; inset: 0; width: 100%; height: 100%' src=\"data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'/%3E\">",
    ),
    ("display", "display: none", "", ""),
    ("visibility", "visibility: hidden", "", ""),
    ("nothing", "", "opacity: 0", ""),
    ("away", "position: absolute; left: -9999px", "", ""),
    ("shut", "", "height: 0; overflow: hidden", ""),
];

fn page(around: &str) -> String {
    let lines = HIDINGS.map(|(id, own, outer, after)| {
        format!(
            "<div style=\"{outer}\"><label>City <input id={id} name={id} style=\"{own}\"></label>{after}</div>"
        )
    });
    format!(
        "<body style='background: #fff'><form style='background: #fff; position: relative; z-index: 0'>
         <label>Town <input id=plain name=plain></label>{around}<section style='background: #fff'>{}</section>
         <button>Send</button></form>",
        lines.concat()
    )
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn hidden_field_is_never_typed_into() {
    // Far below the window as well, where no pointer can look.
    for around in ["", "<div style='height: 6000px'></div>"] {
        let page = OpenPage::page(&page(around)).await;
        let fields = page.stands().await.reading.fields;
        let fill = |id: &str| {
            let found = fields.iter().find(|it| it.selector == format!("#{id}"));
            found.unwrap_or_else(|| panic!("no #{id} in {fields:?}")).fill
        };
        assert_eq!(fill("plain"), Fill::Yes);
        let mut seen = Vec::new();
        for (id, ..) in HIDINGS {
            if around.is_empty() && fill(id) != Fill::Hidden {
                seen.push(format!("{id} is read as seen"));
            }
            let typed =
                page.browser.insert(&field(FieldShape::Text, &format!("#{id}")), "Whitby").await;
            if typed.is_ok() {
                seen.push(format!("{id} is typed into"));
            }
        }
        assert!(seen.is_empty(), "{seen:#?}");
        page.fills(&field(FieldShape::Text, "#plain"), "Whitby").await;
        let held = "return [...document.querySelectorAll('input')].filter(it => it.value).map(it => it.id).join()";
        assert_eq!(page.js(held).await, "plain");
    }
}

/// Fields as they are dressed on ordinary pages.
const DRESSED: &str = "<style>
.switch { position: relative; display: inline-block; width: 60px; height: 30px }
.switch input { opacity: 0; width: 0; height: 0 } .switch i { position: absolute; inset: 0; background: #2196f3; border-radius: 30px }
.sr { position: absolute; width: 1px; height: 1px; overflow: hidden; clip: rect(0, 0, 0, 0) }
.float { position: relative; margin: 20px 0 } .float label { position: absolute; left: 8px; top: 8px; pointer-events: none }
.line { border: 0; border-bottom: 1px solid #999; background: transparent; color: #222; padding: 8px }
.flat { border: 0; background: #fff; color: #333 } .dark { background: #111; color: #eee; padding: 10px }
.dark input { background: transparent; color: #fff; border: 0 } .card { border-radius: 12px; overflow: hidden; clip-path: inset(0 round 12px) }
.fade { height: 60px; overflow: auto; mask-image: linear-gradient(black, transparent) } .icon { position: relative }
.icon b { position: absolute; right: 0; top: 0; width: 24px; height: 24px; background: #ddd } .dim { opacity: .5 }
.drop input { position: absolute; inset: 0; opacity: 0 } .drop { position: relative; display: inline-block; padding: 20px; background: #eee }
.cookies { position: fixed; bottom: 0; left: 0; right: 0; height: 1200px; background: #fff }</style>
<form><label class=switch><input type=checkbox id=switch><i></i> Light</label>
<label><input type=checkbox class=sr id=box><span>Boxed</span></label>
<label><input type=radio class=sr name=r id=r1 value=one><span>One</span></label><label><input type=radio class=sr name=r id=r2 value=two><span>Two</span></label>
<div class=float><input id=float class=line placeholder=' '><label for=float>Floating</label></div>
<p><label for=flat>Flat</label><input id=flat class=flat></p>
<div class=dark><label for=dark>Dark</label><input id=dark></div>
<div class=card><label for=card>Card</label><input id=card></div>
<div class=fade><p style='height: 100px'>More</p><label for=fade>Faded</label><input id=fade></div>
<p class=icon><label for=icon>Icon</label><input id=icon style='width: 300px'><b></b></p>
<p class=dim><label for=dim>Dim</label><input id=dim></p>
<label class=drop>Drop a file <input type=file id=drop></label>
<p><label for=list>List</label><select id=list><option value=''>-<option value=x>X</select></p>
<div id=rich contenteditable aria-label=Rich style='min-height: 40px; border: 1px solid #999'></div>
<button>Send</button></form>COOKIES";

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn styled_fields_are_filled() {
    let cookies = "<div class=cookies>We use cookies <button>Reject</button></div>";
    for banner in ["", cookies] {
        let page = OpenPage::page(&DRESSED.replace("COOKIES", banner)).await;
        let fields = page.stands().await.reading.fields;
        for id in [
            "switch", "box", "r1", "float", "flat", "dark", "card", "fade", "icon", "dim", "drop",
            "list", "rich",
        ] {
            let found = fields.iter().find(|it| it.selector == format!("#{id}"));
            let found = found.unwrap_or_else(|| panic!("no #{id} in {fields:#?}"));
            assert_ne!(found.fill, Fill::Hidden, "{id} with {banner:?}");
            match found.shape {
                FieldShape::File => {}
                FieldShape::Checkbox => page.fills(found, "true").await,
                FieldShape::Radio => page.fills(found, "two").await,
                FieldShape::Select => page.fills(found, "x").await,
                _ => page.fills(found, "Whitby").await,
            }
        }
    }
}
