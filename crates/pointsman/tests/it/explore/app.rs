//! A small app for explorations, written as a recording: a menu, a list, a form behind a
//! switch, a dialog for a permission, a crash, and a way out of the app.

use serde_json::{Value, json};

/// The app, as lines of a recording.
pub(super) struct App {
    lines: Vec<Value>,
}

const PACKAGE: &str = "org.example.points";

/// A button, as its name and its text.
pub(super) type Button<'a> = (&'a str, &'a str);

impl App {
    /// Returns the app that most tests explore: six screens, one crash, one way out.
    pub(super) fn points() -> Self {
        let mut app = Self::starting_at("home");
        app.screen("home", "Main", &[("list", "Lines"), ("about", "About"), ("share", "Share")]);
        app.screen("list", "Lines", &[("row", "Line 1"), ("row", "Line 2"), ("add", "Add")]);
        app.screen("detail", "Detail", &[("delete", "Delete")]);
        app.screen("add", "Add", &[("save", "Save")]);
        app.screen("about", "Main", &[("licences", "Licences")]);
        app.screen("licences", "Main", &[]);
        app.other("browser", "com.android.chrome", &[("ok", "Accept")]);
        app.other("down", "android", &[("aerr_close", "Close app")]);
        app.tap("home", 1, "list");
        app.tap("home", 2, "about");
        app.tap("home", 3, "browser");
        app.tap("list", 1, "detail");
        app.tap("list", 2, "detail");
        app.tap("list", 3, "add");
        app.tap("detail", 1, "down");
        app.tap("down", 1, "home");
        app.tap("add", 1, "list");
        app.tap("about", 1, "licences");
        for (from, to) in [("list", "home"), ("detail", "list"), ("add", "list"), ("about", "home")]
        {
            app.back(from, to);
        }
        app.back("licences", "about");
        app.back("browser", "home");
        app
    }

    pub(super) fn starting_at(initial: &str) -> Self {
        let header = json!({ "type": "header", "app": "points", "package": PACKAGE,
            "kind": "synthetic", "initial": initial });
        Self { lines: vec![header] }
    }

    pub(super) fn screen(&mut self, id: &str, activity: &str, buttons: &[Button<'_>]) {
        self.state(id, PACKAGE, &format!("{PACKAGE}.{activity}"), buttons);
    }

    /// Adds a screen of another app.
    pub(super) fn other(&mut self, id: &str, package: &str, buttons: &[Button<'_>]) {
        self.state(id, package, &format!("{package}.Other"), buttons);
    }

    fn state(&mut self, id: &str, package: &str, activity: &str, buttons: &[Button<'_>]) {
        let mut inside = String::new();
        for (index, (name, text)) in buttons.iter().enumerate() {
            let top = 100 * (index + 1);
            let message = if *name == "aerr_close" { "Points has stopped" } else { text };
            inside.push_str(&button(package, &format!("{id}_{name}"), message, (index, top)));
        }
        let hierarchy = format!(
            r#"<hierarchy rotation="0"><android.widget.FrameLayout index="0" package="{package}" class="android.widget.FrameLayout" resource-id="{package}:id/{id}" enabled="true" displayed="true" bounds="[0,0][400,800]">{inside}</android.widget.FrameLayout></hierarchy>"#
        );
        self.lines.push(json!({ "type": "state", "id": id, "activity": activity,
            "package": package, "flags": [], "hierarchy": hierarchy }));
    }

    pub(super) fn tap(&mut self, from: &str, node: usize, to: &str) {
        self.lines.push(json!({ "type": "event", "from": from, "to": to, "kind": "tap",
            "target": { "node": node }, "raw": {}, "p": 1.0 }));
    }

    pub(super) fn back(&mut self, from: &str, to: &str) {
        self.lines.push(json!({ "type": "event", "from": from, "to": to, "kind": "back",
            "target": null, "raw": {}, "p": 1.0 }));
    }

    pub(super) fn text(&self) -> String {
        let lines: Vec<String> = self.lines.iter().map(Value::to_string).collect();
        lines.join("\n")
    }
}

fn button(package: &str, name: &str, text: &str, (index, top): (usize, usize)) -> String {
    let bottom = top + 80;
    format!(
        r#"<android.widget.Button index="{index}" package="{package}" class="android.widget.Button" text="{text}" resource-id="{package}:id/{name}" clickable="true" enabled="true" displayed="true" bounds="[0,{top}][400,{bottom}]"/>"#
    )
}
