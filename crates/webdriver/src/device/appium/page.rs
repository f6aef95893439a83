//! Pages in a browser, described as screens: a script lists what a page shows.

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use pointsman_agents::explore::{Bounds, DeviceAction, Direction, Element, Platform, Tree};
use reqwest::Url;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    AppState, Appium, DeviceClass, DeviceError, Gesture, ScreenCapture,
    gesture::{self, down, ms, pause, pointer, stroke, to, up},
};

const SCRIPT: &str = include_str!("page.js");
/// What a page shows in place of one that cannot be loaded.
const BROKEN: &str = "chrome-error:";
/// The name for what is in front when an app's page has failed.
const FAILED: &str = "browser-error";
/// The lowest status that means a server error.
const SERVER_ERROR: u16 = 500;

/// The script's report on a page.
#[derive(Debug, Deserialize)]
struct PageElements {
    href: String,
    origin: String,
    path: String,
    /// The HTTP status that it came with; 0 where the browser does not know.
    status: u16,
    elements: Vec<PageElement>,
}

/// Something on a page.
#[derive(Debug, Deserialize)]
#[allow(clippy::struct_excessive_bools, reason = "the explorer's elements have these flags")]
struct PageElement {
    parent: Option<usize>,
    class: String,
    resource: String,
    text: String,
    description: String,
    hint: String,
    bounds: [i32; 4],
    clickable: bool,
    long_clickable: bool,
    scrollable: bool,
    checkable: bool,
    checked: bool,
    selected: bool,
    enabled: bool,
    editable: bool,
    password: bool,
    focused: bool,
    displayed: bool,
}

/// The script's report on an element.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FoundElement {
    stale: bool,
    done: bool,
    covered: bool,
    element: Value,
    bounds: [i32; 4],
    window: [i32; 2],
}

impl Appium {
    /// Looks at a page. One that has crashed shows nothing.
    pub(super) async fn look_at_page(&self) -> Result<ScreenCapture, DeviceError> {
        let said = match self.script(json!(["look"]), "reading the page").await {
            Err(error) if is_crash(&error) => {
                let (_, activity) = self.place().unwrap_or_default();
                let package = FAILED.to_owned();
                return Ok(ScreenCapture {
                    tree: Arc::new(page(Vec::new())),
                    source: "".into(),
                    package,
                    activity,
                });
            }
            said => said?,
        };
        let source = said.to_string();
        let seen: PageElements = read(said, "reading the page")?;
        let broken = seen.href.starts_with(BROKEN);
        let (mut package, activity) =
            if broken { self.address().await? } else { (seen.origin, seen.path) };
        self.set_place(&package, &activity);
        // Then a failure is in front, and not the app.
        let failed = broken || seen.status >= SERVER_ERROR;
        if failed && self.settings.app().is_some_and(|app| app == package) {
            FAILED.clone_into(&mut package);
        }
        let tree = page(seen.elements);
        Ok(ScreenCapture { tree: Arc::new(tree), source: source.into(), package, activity })
    }

    /// Returns how a site stands. A page of it that could not be loaded, that its server
    /// has failed at, or whose process has died, has crashed.
    pub(super) async fn page_state(&self, site: &str) -> Result<AppState, DeviceError> {
        let said = match self.script(json!(["look"]), "reading the page").await {
            Err(error) if is_crash(&error) => return Ok(AppState::Stopped),
            said => said?,
        };
        let seen: PageElements = read(said, "reading the page")?;
        let broken = seen.href.starts_with(BROKEN);
        let origin = if broken { self.address().await?.0 } else { seen.origin };
        if origin == "null" {
            return Ok(AppState::Stopped);
        }
        if origin != site {
            return Ok(AppState::Background);
        }
        let failed = broken || seen.status >= SERVER_ERROR;
        Ok(if failed { AppState::Stopped } else { AppState::Front })
    }

    /// Opens the site's first page, unless one of its pages is open.
    pub(super) async fn open_page(&self, site: &str) -> Result<(), DeviceError> {
        if self.page_state(site).await? == AppState::Front {
            return Ok(());
        }
        let url = self.settings.start.clone().unwrap_or_else(|| site.to_owned());
        let what = format!("opening {url}");
        match self.post("url", json!({ "url": url }), &what).await {
            // A page that has crashed takes its window along.
            Err(error) if is_crash(&error) => {
                self.renew().await?;
                self.post("url", json!({ "url": url }), &what).await.map(drop)
            }
            opened => opened.map(drop),
        }
    }

    /// Leaves the site, so that it restarts. Its stored data stays.
    pub(super) async fn leave_page(&self) -> Result<(), DeviceError> {
        let left = match self.shut_others().await {
            Ok(()) => self.post("url", json!({ "url": "about:blank" }), "leaving the page").await,
            Err(error) => Err(error),
        };
        match left {
            Err(error) if is_crash(&error) => self.renew().await,
            left => left.map(drop),
        }
    }

    /// Performs a gesture on an element of the page.
    pub(super) async fn perform_on_page(&self, gesture: &Gesture) -> Result<(), DeviceError> {
        let ordinal = gesture.target.ok_or_else(|| gesture::unfit("it names no element"))?;
        let bounds = gesture.bounds.map(|it| [it.left, it.top, it.right, it.bottom]);
        let act = match gesture.act {
            _ if gesture.text.is_some() => "text",
            DeviceAction::Swipe => "swipe",
            DeviceAction::LongPress => "long_press",
            _ => "tap",
        };
        let what = "finding the element";
        let said = self.script(json!(["find", ordinal, bounds, act, gesture.text]), what).await?;
        let found: FoundElement = read(said, what)?;
        if found.stale {
            let message = format!("{what}: the page has changed since it was read");
            return Err(DeviceError::new(DeviceClass::Stale, message));
        }
        if found.done {
            return Ok(());
        }
        if found.covered {
            let message = format!("{what}: something else covers it");
            return Err(DeviceError::new(DeviceClass::InputFailed, message));
        }
        let at = inside(found.bounds, found.window);
        if let Some(text) = &gesture.text {
            let Some(id) = gesture::element(&found.element) else {
                let message = format!("{what}: the browser names no element");
                return Err(DeviceError::new(DeviceClass::Internal, message));
            };
            return self.fill(id, text).await;
        }
        match gesture.act {
            DeviceAction::Swipe => self.scroll(at, gesture::direction(gesture)?).await,
            DeviceAction::LongPress => {
                self.click(at.middle(), self.settings.times.hold, "a long press").await
            }
            _ => self.click(at.middle(), Duration::ZERO, "tapping").await,
        }
    }

    async fn click(&self, at: (i32, i32), hold: Duration, what: &str) -> Result<(), DeviceError> {
        let windows = self.windows().await?;
        let moves = [to(at, Duration::ZERO), down(), pause(hold), up()];
        self.actions(&pointer("mouse", &moves), what).await?;
        match self.follow(&windows).await {
            // The next reading shows what happened to the page.
            Err(error) if error.class == DeviceClass::SessionLost => Ok(()),
            followed => followed,
        }
    }

    /// Scrolls as a finger would: contents follow it, so they go the other way.
    async fn scroll(&self, at: Bounds, direction: Direction) -> Result<(), DeviceError> {
        let swipe = stroke(
            Bounds { left: 0, top: 0, right: 100_000, bottom: 100_000 },
            direction,
            self.settings.times.distance,
        );
        let (x, y) = at.middle();
        let turn = json!({
            "type": "scroll", "x": x, "y": y, "origin": "viewport",
            "duration": ms(self.settings.times.swipe),
            "deltaX": swipe.from.0 - swipe.to.0, "deltaY": swipe.from.1 - swipe.to.1,
        });
        let wheel = json!({ "type": "wheel", "id": "wheel", "actions": [turn] });
        self.actions(&wheel, "scrolling").await
    }

    fn place(&self) -> Option<(String, String)> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_place(&self, site: &str, path: &str) {
        let place = Some((site.to_owned(), path.to_owned()));
        *self.place.lock().unwrap_or_else(PoisonError::into_inner) = place;
    }

    async fn script(&self, arguments: Value, what: &str) -> Result<Value, DeviceError> {
        let body = json!({ "script": SCRIPT, "args": arguments });
        match self.post("execute/sync", body.clone(), what).await {
            Err(error) if self.find_window(&error).await => {
                self.post("execute/sync", body, what).await
            }
            said => said,
        }
    }

    /// Returns site and path of the address that the browser shows.
    async fn address(&self) -> Result<(String, String), DeviceError> {
        let what = "asking for the page's address";
        let url = self.get("url", what).await?;
        let url = url.as_str().and_then(|url| Url::parse(url).ok());
        Ok(url
            .map(|url| (url.origin().ascii_serialization(), url.path().to_owned()))
            .unwrap_or_default())
    }
}

/// Returns whether the process of a page has died.
fn is_crash(error: &DeviceError) -> bool {
    error.class == DeviceClass::SessionLost
        && ["tab crashed", "page crash"].iter().any(|it| error.message.contains(it))
}

fn read<T: for<'de> Deserialize<'de>>(said: Value, what: &str) -> Result<T, DeviceError> {
    serde_json::from_value(said).map_err(|error| {
        let message = format!("{what}: a script on the page interferes with Pointsman: {error}");
        DeviceError::new(DeviceClass::Unreadable, message)
    })
}

fn page(parts: Vec<PageElement>) -> Tree {
    let mut indices: Vec<u32> = Vec::new();
    let mut elements: Vec<Element> = Vec::new();
    for part in parts {
        // Ordinals of what came before; anything else is not a place in the list.
        let parent = part.parent.filter(|it| *it < elements.len());
        let index = parent.and_then(|it| indices.get_mut(it)).map_or(0, |next| {
            let index = *next;
            *next = index.saturating_add(1);
            index
        });
        indices.push(0);
        elements.push(element(part, parent, index));
    }
    Tree { platform: Platform::Web, elements }
}

fn element(part: PageElement, parent: Option<usize>, index: u32) -> Element {
    Element {
        parent,
        index,
        class: part.class,
        resource: part.resource,
        package: String::new(),
        text: part.text,
        description: part.description,
        hint: part.hint,
        bounds: Some(bounds(part.bounds)),
        clickable: part.clickable,
        long_clickable: part.long_clickable,
        scrollable: part.scrollable,
        checkable: part.checkable,
        checked: part.checked,
        selected: part.selected,
        enabled: part.enabled,
        editable: part.editable,
        password: part.password,
        focused: part.focused,
        displayed: part.displayed,
    }
}

const fn bounds([left, top, right, bottom]: [i32; 4]) -> Bounds {
    Bounds { left, top, right, bottom }
}

/// Returns the part of an element that is inside the window: a pointer reaches no other.
fn inside([left, top, right, bottom]: [i32; 4], [width, height]: [i32; 2]) -> Bounds {
    let within = |it: i32, most: i32| it.clamp(0, most.max(1) - 1);
    Bounds {
        left: within(left, width),
        top: within(top, height),
        right: within(right, width),
        bottom: within(bottom, height),
    }
}
