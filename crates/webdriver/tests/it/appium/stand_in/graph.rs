//! An app that a graph in a file describes, behind the stand-in: what a finger touches is
//! found by its place on the screen, as on a phone.

use std::{
    collections::BTreeSet,
    path::Path,
    pin::pin,
    task::{Context, Poll, Waker},
};

use pointsman_agents::explore::{DeviceAction, Direction};
use pointsman_webdriver::device::{Device, Gesture, Recording, ScreenCapture};
use serde_json::{Value, json};

use super::{
    model::{ELEMENT, Refused, missing},
    routes::Call,
    touch::{self, Kind, Touch},
};

/// A graph that is played, and how far.
pub(crate) struct GraphPlayer {
    recording: Recording,
    running: bool,
    /// The field that has the focus, by its ordinal.
    focus: Option<usize>,
    acts: u64,
    /// The states that were shown.
    pub(crate) seen: BTreeSet<String>,
}

impl GraphPlayer {
    /// Plays a graph from its start.
    pub(crate) fn of(file: &Path, seed: u64) -> Self {
        let recording = Recording::open(file, seed, None).expect("recording is valid");
        Self { recording, running: false, focus: None, acts: 0, seen: BTreeSet::new() }
    }

    /// Does what a call asks of the app, if it does.
    pub(super) fn answer(&mut self, call: &Call) -> Option<Result<Value, Refused>> {
        let look = ready(self.recording.look());
        let own = call.body.get("appId").and_then(Value::as_str) == Some(self.recording.package());
        Some(Ok(match call.name.as_str() {
            "getPageSource" => {
                self.seen.insert(self.recording.at());
                (&*look.source).into()
            }
            "mobile: getCurrentPackage" => look.package.into(),
            "mobile: getCurrentActivity" => look.activity.into(),
            "back" => self.act(DeviceAction::Back, None, None),
            "performActions" => match touch::read(&call.body) {
                Ok(touch) => self.touch(&look, &touch),
                Err(why) => return Some(Err(("invalid argument", why))),
            },
            "active" => match self.focus {
                Some(at) => json!({ ELEMENT: at.to_string() }),
                None => return Some(Err(missing())),
            },
            "clear" => Value::Null,
            "setValue" | "mobile: type" => self.act(DeviceAction::Text, self.focus, None),
            "activateApp" if own => {
                let first = !std::mem::replace(&mut self.running, true);
                let front = look.package == self.recording.package();
                let key = self.key();
                match (first, front) {
                    (true, _) => drop(ready(self.recording.restart("", &key))),
                    (false, false) => drop(ready(self.recording.launch("", &key))),
                    (false, true) => {}
                }
                Value::Null
            }
            "terminateApp" if own => std::mem::take(&mut self.running).into(),
            "queryAppState" if own => match look.package == self.recording.package() {
                _ if !self.running => 1.into(),
                front => (if front { 4 } else { 3 }).into(),
            },
            _ => return None,
        }))
    }

    /// Returns the screens that were shown, by the names that the graph has for them.
    pub(crate) fn screens(&self) -> BTreeSet<String> {
        let truth = self.recording.truth();
        self.seen.iter().filter_map(|it| truth.screens.get(it).cloned()).collect()
    }

    fn touch(&mut self, look: &ScreenCapture, touch: &Touch) -> Value {
        let inside = |ordinal: &usize| {
            let bounds = look.tree.get(*ordinal).and_then(|it| it.bounds);
            bounds.is_some_and(|it| {
                let (x, y) = touch.at;
                (i64::from(it.left)..i64::from(it.right)).contains(&x)
                    && (i64::from(it.top)..i64::from(it.bottom)).contains(&y)
            })
        };
        // Later elements cover earlier ones.
        let Some(hit) = (0..look.tree.elements.len()).rev().find(inside) else {
            return Value::Null;
        };
        self.focus = look.tree.get(hit).is_some_and(|it| it.editable).then_some(hit);
        match &touch.kind {
            Kind::Tap => self.act(DeviceAction::Tap, Some(hit), None),
            Kind::Hold => self.act(DeviceAction::LongPress, Some(hit), None),
            Kind::Swipe(way) => {
                let list = look.tree.around(hit).find(|(_, it)| it.scrollable);
                let way = Direction::ALL.into_iter().find(|it| it.name() == *way);
                self.act(DeviceAction::Swipe, list.map(|(at, _)| at), way)
            }
        }
    }

    fn act(
        &mut self,
        act: DeviceAction,
        target: Option<usize>,
        direction: Option<Direction>,
    ) -> Value {
        let gesture = Gesture { act, target, direction, ..Gesture::default() };
        let key = self.key();
        drop(ready(self.recording.act(&gesture, &key)));
        Value::Null
    }

    fn key(&mut self) -> String {
        self.acts += 1;
        self.acts.to_string()
    }
}

/// Returns what a recording answers, which it does at once.
fn ready<T, E: std::fmt::Debug>(answer: impl Future<Output = Result<T, E>>) -> T {
    match pin!(answer).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer.expect("recording answers at once"),
        Poll::Pending => panic!("a recording answers at once"),
    }
}
