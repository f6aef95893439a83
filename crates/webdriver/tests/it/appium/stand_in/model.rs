//! The device: installed apps, running apps, the app in front, and the effect of each call.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    Mishap,
    app::{App, To},
    graph::GraphPlayer,
    routes::Call,
    screen::{HEIGHT, PICTURE, WIDTH},
    touch::{self, Kind, Touch},
};

pub(super) const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// An error of the protocol: code and message.
pub(super) type Refused = (&'static str, String);

/// The app or dialog in front.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Front {
    /// This screen of the app.
    App(String),
    /// The system's word that the app has crashed.
    Crashed,
    /// The system's word that the app hangs; it was on this screen.
    Hanging(String),
    /// A permission dialog of the system; the app continues on this screen.
    Asking(String),
    /// Another app.
    Other(String),
}

/// A device with one app.
pub(crate) struct Model {
    pub(crate) app: App,
    /// The app, where a graph says what it does.
    pub(crate) graph: Option<GraphPlayer>,
    pub(crate) installed: Option<u64>,
    /// What a file would install, or the words with which the installation fails.
    pub(crate) files: BTreeMap<String, Result<u64, String>>,
    pub(crate) running: bool,
    pub(crate) front: Front,
    pub(crate) plugged: bool,
    /// For how many calls it is away.
    pub(crate) away: u32,
    pub(crate) session: Option<String>,
    /// What was typed, by screen and widget.
    pub(crate) typed: BTreeMap<(String, usize), String>,
    /// The commands that were called.
    pub(crate) calls: Vec<String>,
    pub(super) mishaps: Vec<(&'static str, Mishap)>,
    focus: Option<(String, usize)>,
    sessions: u32,
}

const LAUNCHER: &str = "com.android.launcher";

impl Model {
    pub(super) fn new(app: App, installed: Option<u64>) -> Self {
        Self {
            app,
            graph: None,
            installed,
            files: BTreeMap::new(),
            running: false,
            front: Front::Other(LAUNCHER.into()),
            plugged: true,
            away: 0,
            session: None,
            typed: BTreeMap::new(),
            calls: Vec::new(),
            mishaps: Vec::new(),
            focus: None,
            sessions: 0,
        }
    }

    pub(super) fn mishap(&mut self, path: &str) -> Option<Mishap> {
        let at = self.mishaps.iter().position(|(end, _)| path.ends_with(end))?;
        Some(self.mishaps.remove(at).1)
    }

    /// Does what a call asks for.
    pub(super) fn answer(&mut self, call: &Call) -> Result<Value, Refused> {
        match call.name.as_str() {
            "getStatus" => return Ok(json!({ "ready": true, "build": { "version": "stand-in" } })),
            "createSession" => return self.create(call),
            _ => {}
        }
        if self.session.is_none() || self.session != call.session {
            let message = "A session is either terminated or not started";
            return Err(("invalid session id", message.into()));
        }
        if call.name == "deleteSession" {
            self.session = None;
            return Ok(Value::Null);
        }
        if self.away > 0 || !self.plugged {
            self.away = self.away.saturating_sub(1);
            return Err(("unknown error", "adb: device 'stand-in' not found".into()));
        }
        if let Some(answer) = self.graph.as_mut().and_then(|it| it.answer(call)) {
            return answer;
        }
        let text = |name: &str| call.body.get(name).and_then(Value::as_str).unwrap_or_default();
        match call.name.as_str() {
            "getWindowRect" => Ok(json!({ "x": 0, "y": 0, "width": WIDTH, "height": HEIGHT })),
            "getPageSource" => Ok(self.source().into()),
            "getScreenshot" => Ok(PICTURE.into()),
            "back" => {
                self.back();
                Ok(Value::Null)
            }
            "performActions" => {
                let touch = touch::read(&call.body).map_err(|why| ("invalid argument", why))?;
                self.touch(&touch)
            }
            "active" => self.active(),
            "clear" => self.type_into(call.element.as_deref(), None),
            "setValue" => self.type_into(call.element.as_deref(), Some(text("text"))),
            "mobile: type" => {
                let focus = self.focus.clone().ok_or_else(missing)?;
                self.typed.entry(focus).or_default().push_str(text("text"));
                Ok(Value::Null)
            }
            "mobile: getCurrentPackage" => Ok(self.package().into()),
            "mobile: getCurrentActivity" => Ok(self.activity()),
            "mobile: listApps" => Ok(self.apps()),
            "installApp" => self.install(text("appPath")),
            "isAppInstalled" => Ok(self.has(text("appId")).into()),
            "activateApp" => self.activate(text("appId")),
            "terminateApp" => Ok(self.terminate(text("appId")).into()),
            "queryAppState" => Ok(self.state(text("appId")).into()),
            other => Err(("unknown method", format!("{other} has not yet been implemented"))),
        }
    }

    fn create(&mut self, call: &Call) -> Result<Value, Refused> {
        let wanted = call.body.get("capabilities").and_then(|it| it.get("alwaysMatch"));
        let text = |name: &str| wanted.and_then(|it| it.get(name)).and_then(Value::as_str);
        if text("platformName") != Some("Android") {
            let message = "A new session could not be created. Details: 'platformName' can't be \
                           anything but Android";
            return Err(("session not created", message.into()));
        }
        let unprefixed = wanted.and_then(Value::as_object).into_iter().flatten();
        for (name, _) in unprefixed {
            if !name.contains(':')
                && !["platformName", "browserName", "timeouts"].contains(&&**name)
            {
                let message =
                    format!("All non-standard capabilities should have a vendor prefix: {name}");
                return Err(("invalid argument", message));
            }
        }
        if self.away > 0 || !self.plugged {
            self.away = self.away.saturating_sub(1);
            let message = "Could not find a connected Android device in 20000ms";
            return Err(("session not created", message.into()));
        }
        self.sessions += 1;
        let id = format!("stand-in-{}", self.sessions);
        self.session = Some(id.clone());
        Ok(json!({ "sessionId": id, "capabilities": wanted }))
    }

    fn back(&mut self) {
        match self.front.clone() {
            Front::App(name) => {
                let to = self.app.screen(&name).and_then(|it| it.back.clone());
                self.go(to.unwrap_or_else(|| To::Leave(LAUNCHER.into())));
            }
            Front::Asking(next) => self.front = Front::App(next),
            Front::Hanging(was) => self.front = Front::App(was),
            Front::Crashed | Front::Other(_) if self.running => {
                self.front = Front::App(self.app.start());
            }
            Front::Crashed | Front::Other(_) => self.front = Front::Other(LAUNCHER.into()),
        }
    }

    fn touch(&mut self, touch: &Touch) -> Result<Value, Refused> {
        if touch.at.0 >= i64::from(WIDTH)
            || touch.at.1 >= i64::from(HEIGHT)
            || touch.at.0.min(touch.at.1) < 0
        {
            let message = "The coordinates are outside of the viewport";
            return Err(("move target out of bounds", message.into()));
        }
        let Some(drawn) = self.at(touch.at) else { return Ok(Value::Null) };
        match (self.front.clone(), drawn.widget) {
            (Front::App(screen), Some(at)) => {
                let widget = self.app.screen(&screen).and_then(|it| it.widgets.get(at)).cloned();
                let Some(widget) = widget else { return Ok(Value::Null) };
                let to = match &touch.kind {
                    Kind::Tap if widget.is_field() => {
                        self.focus = Some((screen, at));
                        None
                    }
                    Kind::Tap => widget.tap,
                    Kind::Hold => widget.hold,
                    Kind::Swipe(way) => widget.swipe.filter(|(it, _)| it == way).map(|(_, to)| to),
                };
                if let Some(to) = to {
                    self.go(to);
                }
            }
            (Front::Crashed, _) if drawn.clickable => self.front = Front::Other(LAUNCHER.into()),
            (Front::Hanging(was), _) if drawn.resource.ends_with("aerr_wait") => {
                self.front = Front::App(was);
            }
            (Front::Hanging(_), _) if drawn.clickable => {
                self.running = false;
                self.front = Front::Other(LAUNCHER.into());
            }
            (Front::Asking(next), _) if drawn.clickable => self.front = Front::App(next),
            _ => {}
        }
        Ok(Value::Null)
    }

    fn go(&mut self, to: To) {
        let here = match &self.front {
            Front::App(name) => name.clone(),
            _ => self.app.start(),
        };
        self.focus = None;
        match to {
            To::Screen(name) => self.front = Front::App(name),
            To::Crash => {
                self.running = false;
                self.front = Front::Crashed;
            }
            To::Vanish => {
                self.running = false;
                self.front = Front::Other(LAUNCHER.into());
            }
            To::Anr => self.front = Front::Hanging(here),
            To::Leave(package) => self.front = Front::Other(package),
            To::Permission(next) => self.front = Front::Asking(next),
            To::Unplug => self.plugged = false,
            To::Loose(calls) => self.away = calls,
            To::Forget => self.session = None,
        }
    }

    fn active(&self) -> Result<Value, Refused> {
        let (screen, at) = self.focus.as_ref().ok_or_else(missing)?;
        let id = format!("{screen}-{at}");
        Ok(json!({ ELEMENT: id }))
    }

    fn type_into(&mut self, element: Option<&str>, text: Option<&str>) -> Result<Value, Refused> {
        let focus = self.focus.clone();
        let Some(focus) = focus.filter(|(screen, at)| element == Some(&format!("{screen}-{at}")))
        else {
            let message = "The element is no longer attached to the DOM";
            return Err(("stale element reference", message.into()));
        };
        let typed = self.typed.entry(focus).or_default();
        match text {
            Some(text) => typed.push_str(text),
            None => typed.clear(),
        }
        Ok(Value::Null)
    }

    fn package(&self) -> &str {
        match &self.front {
            Front::App(_) => &self.app.package,
            Front::Crashed | Front::Hanging(_) => "android",
            Front::Asking(_) => "com.android.permissioncontroller",
            Front::Other(package) => package,
        }
    }

    fn activity(&self) -> Value {
        match &self.front {
            Front::App(name) => self.app.screen(name).map(|it| it.activity.clone()).into(),
            // A dialog of the system need not have one.
            Front::Crashed | Front::Hanging(_) => Value::Null,
            Front::Asking(_) => ".GrantPermissionsActivity".into(),
            Front::Other(_) => ".Main".into(),
        }
    }
}

pub(super) fn missing() -> Refused {
    ("no such element", "An element could not be located on the page".into())
}

/// What can be asked of the app as a whole.
impl Model {
    fn has(&self, package: &str) -> bool {
        package == self.app.package && self.installed.is_some()
    }

    fn apps(&self) -> Value {
        let mut apps = json!({ "android": { "packageName": "android", "versionCode": 34 } });
        if let Some(version) = self.installed {
            let package = &self.app.package;
            apps[package] = json!({ "packageName": package, "versionCode": version });
        }
        apps
    }

    fn install(&mut self, file: &str) -> Result<Value, Refused> {
        match self.files.get(file) {
            Some(Ok(version)) => {
                self.installed = Some(*version);
                self.running = false;
                Ok(Value::Null)
            }
            Some(Err(why)) => Err(("unknown error", why.clone())),
            None => {
                let message =
                    format!("The application at '{file}' does not exist or is not accessible");
                Err(("unknown error", message))
            }
        }
    }

    fn activate(&mut self, package: &str) -> Result<Value, Refused> {
        if !self.has(package) {
            let message = format!("Cannot activate '{package}'. Are you sure it is installed?");
            return Err(("unknown error", message));
        }
        match self.front {
            Front::App(_) if self.running => {}
            _ => self.front = Front::App(self.app.start()),
        }
        self.running = true;
        Ok(Value::Null)
    }

    fn terminate(&mut self, package: &str) -> bool {
        let ran = self.has(package) && self.running;
        if ran {
            self.running = false;
            self.focus = None;
            self.front = Front::Other(LAUNCHER.into());
        }
        ran
    }

    fn state(&self, package: &str) -> u8 {
        match &self.front {
            _ if !self.has(package) => 0,
            _ if !self.running => 1,
            Front::App(_) => 4,
            _ => 3,
        }
    }
}
