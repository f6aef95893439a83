//! What the device shows, as `UiAutomator` writes it, and which widget is at a point.

use super::{
    app::Widget,
    model::{Front, Model},
};

pub(super) const WIDTH: i32 = 1080;
pub(super) const HEIGHT: i32 = 2000;
/// The status bar, which belongs to the system.
const BAR: i32 = 80;

/// A PNG of one grey point.
pub(super) const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==";

/// A widget as it is drawn.
#[derive(Clone, Debug)]
pub(super) struct DrawnWidget {
    pub(super) package: String,
    pub(super) resource: String,
    pub(super) text: String,
    pub(super) class: String,
    pub(super) top: i32,
    pub(super) bottom: i32,
    pub(super) widget: Option<usize>,
    pub(super) clickable: bool,
    pub(super) long_clickable: bool,
    pub(super) scrollable: bool,
}

impl Model {
    /// Returns the content of the screen, from top to bottom.
    pub(super) fn drawn(&self) -> Vec<DrawnWidget> {
        match &self.front {
            Front::App(name) => {
                let widgets = self.app.screen(name).map(|it| it.widgets.as_slice());
                let mut top = BAR;
                let each = widgets.unwrap_or_default().iter().enumerate();
                each.map(|(at, widget)| {
                    let drawn = self.of_app(name, at, widget, top);
                    top = drawn.bottom;
                    drawn
                })
                .collect()
            }
            Front::Crashed => dialog(
                "android",
                &[
                    ("android:id/alertTitle", "The app keeps stopping", false),
                    ("android:id/aerr_close", "Close app", true),
                ],
            ),
            Front::Hanging(_) => dialog(
                "android",
                &[
                    ("android:id/alertTitle", "The app isn't responding", false),
                    ("android:id/aerr_wait", "Wait", true),
                    ("android:id/aerr_close", "Close app", true),
                ],
            ),
            Front::Asking(_) => dialog(
                "com.android.permissioncontroller",
                &[
                    ("com.android.permissioncontroller:id/permission_message", "Allow it?", false),
                    (
                        "com.android.permissioncontroller:id/permission_allow_button",
                        "While using the app",
                        true,
                    ),
                    (
                        "com.android.permissioncontroller:id/permission_deny_button",
                        "Don't allow",
                        true,
                    ),
                ],
            ),
            Front::Other(package) => dialog(package, &[("", "Somebody else's", true)]),
        }
    }

    fn of_app(&self, screen: &str, at: usize, widget: &Widget, top: i32) -> DrawnWidget {
        let typed = self.typed.get(&(screen.to_owned(), at));
        let text = if widget.is_field() {
            typed.cloned().unwrap_or_default()
        } else {
            widget.label.clone()
        };
        let name = widget.label.to_lowercase().replace(' ', "_");
        DrawnWidget {
            package: self.app.package.clone(),
            resource: format!("{}:id/{name}", self.app.package),
            text,
            class: widget.class.clone(),
            top,
            bottom: top + widget.height,
            widget: Some(at),
            clickable: widget.tap.is_some() || widget.is_field(),
            long_clickable: widget.hold.is_some(),
            scrollable: widget.swipe.is_some(),
        }
    }

    /// Returns the widget at a point.
    pub(super) fn at(&self, (x, y): (i64, i64)) -> Option<DrawnWidget> {
        let inside = |it: &DrawnWidget| i64::from(it.top) <= y && y < i64::from(it.bottom);
        (0..i64::from(WIDTH)).contains(&x).then(|| self.drawn().into_iter().find(inside)).flatten()
    }

    /// Writes the hierarchy.
    pub(super) fn source(&self) -> String {
        let mut text = format!(
            "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>\n<hierarchy index=\"0\" \
             class=\"hierarchy\" rotation=\"0\" width=\"{WIDTH}\" height=\"{HEIGHT}\">\n"
        );
        let bar = DrawnWidget {
            package: "com.android.systemui".into(),
            resource: "com.android.systemui:id/status_bar".into(),
            text: String::new(),
            class: "android.widget.FrameLayout".into(),
            top: 0,
            bottom: BAR,
            widget: None,
            clickable: false,
            long_clickable: false,
            scrollable: false,
        };
        for (index, drawn) in std::iter::once(bar).chain(self.drawn()).enumerate() {
            text.push_str(&node(index, &drawn));
        }
        text.push_str("</hierarchy>");
        text
    }
}

fn dialog(package: &str, rows: &[(&str, &str, bool)]) -> Vec<DrawnWidget> {
    let mut top = 600;
    rows.iter()
        .map(|(resource, text, clickable)| {
            top += 120;
            let class =
                if *clickable { "android.widget.Button" } else { "android.widget.TextView" };
            DrawnWidget {
                package: package.into(),
                resource: (*resource).into(),
                text: (*text).into(),
                class: class.into(),
                top,
                bottom: top + 120,
                widget: None,
                clickable: *clickable,
                long_clickable: false,
                scrollable: false,
            }
        })
        .collect()
}

fn node(index: usize, drawn: &DrawnWidget) -> String {
    let escaped =
        |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    format!(
        "  <{class} index=\"{index}\" package=\"{}\" class=\"{class}\" text=\"{}\" \
         resource-id=\"{}\" checkable=\"false\" checked=\"false\" clickable=\"{}\" \
         enabled=\"true\" focusable=\"true\" focused=\"false\" long-clickable=\"{}\" \
         password=\"false\" scrollable=\"{}\" selected=\"false\" \
         bounds=\"[0,{}][{WIDTH},{}]\" displayed=\"true\" />\n",
        drawn.package,
        escaped(&drawn.text),
        drawn.resource,
        drawn.clickable,
        drawn.long_clickable,
        drawn.scrollable,
        drawn.top,
        drawn.bottom,
        class = drawn.class,
    )
}
