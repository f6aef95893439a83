//! Lists: native ones, and custom ones.

use pointsman_agents::form::FieldShape;
use pointsman_webdriver::browser::BrowserError;

use super::{OpenPage, among, field};

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn native_lists() {
    let page = OpenPage::page(
        "<select id=s><option value=''>Choose<option value=de>Germany<option value=fr>France</select>
         <select id=m multiple><option>a<option>b<option>c</select>
         <select id=late></select><script>heard = 0; s.onchange = () => {
           heard += 1;
           setTimeout(() => late.innerHTML = '<option value=p>Paris<option value=l>Lyon', 100);
         };</script>",
    )
    .await;
    let countries = [("de", "Germany", ""), ("fr", "France", "")];
    let list = among(field(FieldShape::Select, "#s"), &countries);
    page.fills(&list, "fr").await;
    page.fills(&list, "fr").await;
    assert_eq!(page.js("return [s.value, heard].join()").await, "fr,1");
    let towns = among(field(FieldShape::Select, "#late"), &[("l", "Lyon", "")]);
    page.fills(&towns, "l").await;
    let mut several =
        among(field(FieldShape::Select, "#m"), &[("a", "a", ""), ("b", "b", ""), ("c", "c", "")]);
    several.limits.multiple = true;
    page.fills(&several, "a\nc").await;
    page.fills(&several, "b").await;
    assert_eq!(page.js("return [...m.selectedOptions].map(it => it.value).join()").await, "b");
    let error =
        page.fill(&field(FieldShape::Select, "#s"), "es").await.expect_err("option is not offered");
    assert_eq!(error.to_string(), "`#s` cannot be filled: it does not have this option");
}

/// A line that offers towns a moment after something is typed, a button that opens a list,
/// and a list that lies open.
const LISTS: &str = "<input id=town role=combobox aria-controls=towns aria-expanded=false>
<ul id=towns role=listbox hidden></ul>
<div id=open role=combobox tabindex=0 aria-controls=classes aria-expanded=false>Choose</div>
<ul id=classes role=listbox hidden><li role=option>First<li role=option>Second</ul>
<ul id=seat role=listbox aria-multiselectable=true><li role=option id=s1 aria-selected=true>Window
<li role=option id=s2 aria-selected=false>Aisle<li role=option id=s3 aria-selected=false>Quiet</ul>
<input id=free role=combobox>
<script>
const all = ['Bergen', 'Bern', 'Berlin'];
let chosen = '';
town.oninput = () => setTimeout(() => {
  towns.innerHTML = '';
  for (const each of all.filter(it => town.value && it.toLowerCase().startsWith(town.value.toLowerCase()))) {
    const option = document.createElement('li');
    option.setAttribute('role', 'option');
    option.textContent = each;
    option.onmousedown = event => { event.preventDefault(); chosen = town.value = each; towns.hidden = true; };
    towns.append(option);
  }
  towns.hidden = !towns.children.length;
}, 150);
town.onblur = () => { town.value = chosen; towns.hidden = true; };
open.onclick = () => { classes.hidden = !classes.hidden; };
for (const each of classes.children) each.onclick = () => { open.textContent = each.textContent; classes.hidden = true; };
for (const each of seat.children) each.onclick = () =>
  each.setAttribute('aria-selected', each.getAttribute('aria-selected') !== 'true');
</script>";

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn lists_of_other_elements() {
    let page = OpenPage::page(&LISTS.replace("open.", "document.getElementById('open').")).await;
    page.fills(&field(FieldShape::Combobox, "#town"), "Bern").await;
    assert_eq!(page.js("return chosen").await, "Bern");
    page.fills(&field(FieldShape::Combobox, "#town"), "Bergen").await;
    let classes = [("First", "First", ""), ("Second", "Second", "")];
    page.fills(&among(field(FieldShape::Combobox, "#open"), &classes), "Second").await;
    page.fills(&field(FieldShape::Combobox, "#free"), "whatever").await;

    let seats = [("Window", "Window", "#s1"), ("Aisle", "Aisle", "#s2"), ("Quiet", "Quiet", "#s3")];
    let mut seat = among(field(FieldShape::Listbox, "#seat"), &seats);
    seat.limits.multiple = true;
    page.fills(&seat, "Aisle\nQuiet").await;
    let on = "return [...seat.children].map(it => it.ariaSelected).join()";
    assert_eq!(page.js(on).await, "false,true,true");

    let error = page
        .fill(&field(FieldShape::Combobox, "#town"), "Ber")
        .await
        .expect_err("text matches no option");
    assert!(matches!(error, BrowserError::Unfit { .. }), "{error:?}");
    let error = page
        .fill(&field(FieldShape::Captcha, "#town"), "x")
        .await
        .expect_err("captcha is never filled");
    assert!(matches!(error, BrowserError::Unusable { .. }), "{error:?}");
}
