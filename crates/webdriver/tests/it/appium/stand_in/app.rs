//! An app as a test writes it down: screens with widgets, and where each of them leads.

/// An app for Android.
#[derive(Clone, Debug, Default)]
pub(crate) struct App {
    pub(crate) package: String,
    /// The first is where it starts.
    pub(crate) screens: Vec<Screen>,
}

/// A screen of an app.
#[derive(Clone, Debug, Default)]
pub(crate) struct Screen {
    pub(crate) name: String,
    pub(crate) activity: String,
    pub(crate) widgets: Vec<Widget>,
    /// Where the way back leads; out of the app if nothing is said.
    pub(crate) back: Option<To>,
}

/// Something on a screen. Widgets lie below one another, each as wide as the screen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Widget {
    pub(crate) label: String,
    pub(crate) class: String,
    pub(crate) height: i32,
    pub(crate) tap: Option<To>,
    pub(crate) hold: Option<To>,
    /// Which way a finger must go, and where that leads.
    pub(crate) swipe: Option<(&'static str, To)>,
}

/// Where an action leads.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum To {
    /// Another screen of the app.
    Screen(String),
    /// The app ends, and the system says so.
    Crash,
    /// The app ends without a word.
    Vanish,
    /// The app does not answer, and the system says so.
    Anr,
    /// Another app comes to the front.
    Leave(String),
    /// The system asks for a permission, and the app continues on this screen either way.
    Permission(String),
    /// The device is unplugged.
    Unplug,
    /// The device is away for this many calls.
    Loose(u32),
    /// The server forgets the session.
    Forget,
}

impl App {
    pub(crate) fn new(package: &str, screens: Vec<Screen>) -> Self {
        Self { package: package.into(), screens }
    }

    pub(crate) fn screen(&self, name: &str) -> Option<&Screen> {
        self.screens.iter().find(|it| it.name == name)
    }

    pub(crate) fn start(&self) -> String {
        self.screens.first().map(|it| it.name.clone()).unwrap_or_default()
    }
}

impl Screen {
    /// A screen with its own activity.
    pub(crate) fn new(name: &str, widgets: Vec<Widget>) -> Self {
        let activity = format!(".{name}Activity");
        Self { name: name.into(), activity, widgets, back: None }
    }

    pub(crate) fn back(mut self, to: To) -> Self {
        self.back = Some(to);
        self
    }
}

impl Widget {
    pub(crate) fn button(label: &str, to: To) -> Self {
        let class = "android.widget.Button".into();
        Self { label: label.into(), class, height: 120, tap: Some(to), ..Self::default() }
    }

    pub(crate) fn field(label: &str) -> Self {
        let class = "android.widget.EditText".into();
        Self { label: label.into(), class, height: 120, ..Self::default() }
    }

    pub(crate) fn list(label: &str, direction: &'static str, to: To) -> Self {
        let class = "androidx.recyclerview.widget.RecyclerView".into();
        let swipe = Some((direction, to));
        Self { label: label.into(), class, height: 700, swipe, ..Self::default() }
    }

    pub(crate) fn hold(mut self, to: To) -> Self {
        self.hold = Some(to);
        self
    }

    pub(crate) fn is_field(&self) -> bool {
        self.class.ends_with("EditText")
    }
}

impl To {
    pub(crate) fn screen(name: &str) -> Self {
        Self::Screen(name.into())
    }
}
