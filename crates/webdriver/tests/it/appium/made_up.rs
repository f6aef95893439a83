//! An app that is made up from a seed, as a graph in a file: tabs with lists, pages below them,
//! a form, a dialog, a question for a permission, a way out, a crash and a dead end.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use super::PACKAGE;

/// A made-up recording, line by line.
pub(super) struct RecordingBuilder {
    chance: u64,
    states: Vec<Value>,
    events: Vec<Value>,
}

/// A widget: class, name, text, and where a tap on it leads.
type Widget<'w> = (&'w str, String, String, Option<String>);

impl RecordingBuilder {
    /// Makes up an app with this many pages below its two tabs.
    pub(super) fn app(seed: u64, pages: usize) -> Self {
        let mut made = Self { chance: seed, states: Vec::new(), events: Vec::new() };
        let names: Vec<String> = (0..pages).map(|at| format!("page{at}")).collect();
        // Every page hangs below a tab or below an earlier page.
        let hosts: Vec<usize> = (0..pages).map(|at| made.below(at + 2)).collect();
        let executor = |at: usize| match hosts[at] {
            tab @ (0 | 1) => format!("tab{tab}"),
            page => names[page - 2].clone(),
        };
        let under = |name: &str| -> Vec<String> {
            (0..pages).filter(|at| executor(*at) == name).map(|at| names[at].clone()).collect()
        };
        for (tab, other) in [("tab0", "tab1"), ("tab1", "tab0")] {
            let mut widgets = vec![button(other, other)];
            widgets.extend(under(tab).into_iter().map(|page| row(&page)));
            if tab == "tab0" {
                widgets.extend([button("camera", "asks"), button("web", "web")]);
                widgets.push(button("sign", "form"));
            }
            made.page(tab, "Main", &widgets, "launcher");
        }
        for (at, name) in names.iter().enumerate() {
            let mut widgets: Vec<Widget<'_>> =
                under(name).iter().map(|page| button(page, page)).collect();
            match at % 3 {
                0 => widgets.push(button("delete", &format!("sure{at}"))),
                1 => widgets.push(button("more", name)),
                _ => {}
            }
            made.page(name, &format!("Page{at}"), &widgets, &executor(at));
            if at % 3 == 0 {
                let dialog = [button("cancel", name), button("ok", &executor(at))];
                made.page(&format!("sure{at}"), &format!("Page{at}"), &dialog, name);
            }
        }
        made.form();
        made.page("inside", "Inside", &[button("boom", "down"), button("stuck", "dead")], "tab0");
        made.page("dead", "Dead", &[], "dead");
        let allow = ("android.widget.Button", "permission_allow_button".into(), "Allow".into());
        let allow = (allow.0, allow.1, allow.2, Some("picture".into()));
        made.other("asks", "com.android.permissioncontroller", &[allow], "tab0");
        made.page("picture", "Picture", &[], "tab0");
        made.other("web", "com.android.chrome", &[], "launcher");
        let close = button("aerr_close", "launcher");
        made.other("down", "android", &[close], "launcher");
        made.other("launcher", "com.android.launcher3", &[], "launcher");
        made.event("launch", "launcher", None, "tab0");
        made
    }

    /// A form that requires both fields.
    fn form(&mut self) {
        for filled in 0..4_usize {
            let name = if filled == 0 { "form".into() } else { format!("form{filled}") };
            let to = if filled == 3 { "inside" } else { "form" };
            let text = |at: usize| if filled >> at & 1 == 1 { "typed" } else { "" };
            let field = |at: usize, name: &str| -> Widget<'static> {
                ("android.widget.EditText", name.into(), text(at).into(), None)
            };
            let widgets = [field(0, "first"), field(1, "second"), button("go", to)];
            self.screen(&name, "form", PACKAGE, "Form", &widgets, "tab0");
            for at in 0..2_usize {
                let to = filled | 1 << at;
                self.event("text", &name, Some(at + 1), &format!("form{to}"));
            }
        }
    }

    fn page(&mut self, name: &str, activity: &str, widgets: &[Widget<'_>], back: &str) {
        self.screen(name, name, PACKAGE, activity, widgets, back);
    }

    fn other(&mut self, name: &str, package: &str, widgets: &[Widget<'_>], back: &str) {
        self.screen(name, &format!("!{name}"), package, name, widgets, back);
    }

    fn screen(
        &mut self,
        id: &str,
        label: &str,
        package: &str,
        activity: &str,
        widgets: &[Widget<'_>],
        back: &str,
    ) {
        let mut inside = String::new();
        for (at, (class, name, text, to)) in widgets.iter().enumerate() {
            let (top, bottom) = (200 + 100 * at, 290 + 100 * at);
            let element = format!(
                r#"<{class} class="{class}" package="{package}" resource-id="{package}:id/{name}" text="{text}" clickable="true" enabled="true" displayed="true" bounds="[0,{top}][1080,{bottom}]"/>"#
            );
            inside.push_str(&element);
            if let Some(to) = to {
                self.event("tap", id, Some(at + 1), to);
            }
        }
        let hierarchy = format!(
            r#"<hierarchy><android.widget.FrameLayout class="android.widget.FrameLayout" package="{package}" resource-id="{package}:id/{label}" bounds="[0,0][1080,2000]" enabled="true" displayed="true">{inside}</android.widget.FrameLayout></hierarchy>"#
        );
        self.states.push(json!({ "type": "state", "id": id, "screen": label,
            "activity": format!("{package}.{activity}"), "package": package, "flags": [],
            "hierarchy": hierarchy }));
        self.event("back", id, None, back);
    }

    fn event(&mut self, kind: &str, from: &str, node: Option<usize>, to: &str) {
        let target = node.map(|node| json!({ "node": node }));
        self.events.push(json!({ "type": "event", "from": from, "to": to, "kind": kind,
            "target": target, "raw": {}, "p": 1.0 }));
    }

    /// Returns a number below another.
    fn below(&mut self, count: usize) -> usize {
        self.chance = self.chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(self.chance >> 33).expect("number is in range") % count
    }

    /// Writes the graph down.
    pub(super) fn write(&self, folder: &Path) -> PathBuf {
        let header = json!({ "type": "header", "app": "made-up", "package": PACKAGE,
            "kind": "synthetic", "initial": "tab0" });
        let all = [&[header][..], &self.states, &self.events].concat();
        let lines: Vec<String> = all.iter().map(Value::to_string).collect();
        let file = folder.join("made-up.jsonl");
        fs::write(&file, lines.join("\n")).expect("file is writable");
        file
    }
}

fn button(name: &str, to: &str) -> Widget<'static> {
    ("android.widget.Button", name.into(), format!("To {name}"), Some(to.into()))
}

fn row(page: &str) -> Widget<'static> {
    ("android.widget.TextView", format!("row_{page}"), format!("Row {page}"), Some(page.into()))
}
