//! A run whose goal, tool output, file names and answers attack the page.

use serde_json::json;

use super::rig::Rig;
use crate::{home::Home, serve::page::asking};

const HOSTILE: &str = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'\
    </script>\u{202e}gnp.exe\u{2066} \u{1b}[31mred\u{1b}[0m [click](javascript:document.title='owned') \
    **<b>bold</b>** ![x](https://evil.example/x.png) `<i>` &lt;u&gt;";

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn hostile_text_stays_text() {
    let home = Home::new("page-hostile");
    let long = format!("{HOSTILE}{}", "x".repeat(90_000));
    let hostile = asking(&home, HOSTILE);
    let wide = asking(&home, &long);
    let rig = Rig::new(home, &[]);
    let paths = ["/".to_owned(), format!("/runs/{hostile}"), format!("/runs/{wide}")];
    for path in paths {
        rig.open(&path);
        rig.wait("document.querySelector('.row, .question')");
        for pane in ["why", "data", "prompt", "chart"].iter().filter(|_| path != "/") {
            rig.press(&format!("#tab-{pane}"));
        }
        let found = rig.script(
            "return { title: document.title, \
             foreign: document.querySelectorAll('main img, main script, main b, main u, main iframe, .story i, .runs i').length, \
             links: [...document.querySelectorAll('main a')].filter((it) => it.protocol === 'javascript:').length, \
             handlers: [...document.querySelectorAll('*')].filter((it) => [...it.attributes].some((at) => at.name.startsWith('on'))).length, \
             hidden: /[\\u202a-\\u202e\\u2066-\\u2069\\u001b]/.test(document.querySelector('.story, .runs').textContent), \
             wide: document.documentElement.scrollWidth > document.documentElement.clientWidth, \
             elsewhere: performance.getEntriesByType('resource').filter((it) => new URL(it.name).host !== location.host).length }",
        );
        assert_ne!(found["title"], "owned", "{path}");
        for count in ["foreign", "links", "handlers", "elsewhere"] {
            assert_eq!(found[count], json!(0), "{path}: {count}");
        }
        assert_eq!(
            found["hidden"],
            json!(false),
            "{path}: invisible characters are shown by signs"
        );
        assert_eq!(found["wide"], json!(false), "{path}: nothing is wider than the window");
        assert!(rig.elements() < 2_000, "{path}: {} elements", rig.elements());
    }
}
