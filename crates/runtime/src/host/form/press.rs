//! Controls are pressed for a run: once, whatever happens.

use std::sync::{PoisonError, atomic::Ordering::Relaxed};

use pointsman_agents::form::Report;
use serde::Deserialize;

use super::{
    room::{Room, open},
    trouble::Trouble,
};
use crate::{
    browser::{Answer, Browser, BrowserError, Dialog, Pressed, Rest, Stand, Went},
    perform::Errand,
};

/// Complaints of a page that are told.
const COMPLAINTS: usize = 5;
/// The first HTTP status that says that something is wrong.
const WRONG: u16 = 400;

const WINDOW: &str = "it opened another window, which is left to you";

/// What the tool is given that sends a form.
#[derive(Debug, Deserialize)]
struct Submit {
    selector: String,
    page: String,
    origin: Option<String>,
}

/// What came of it.
enum Done {
    /// It was pressed now, on a page that is known by this.
    Now(Box<Pressed>, String),
    /// It was pressed before a crash, and this is the page now.
    Before(Box<Stand>),
}

impl Room {
    /// Presses the control that leads on.
    pub(super) async fn press(
        &self,
        selector: &str,
        page: &str,
        origin: &str,
        errand: &Errand,
    ) -> Result<Report, Trouble> {
        let mut browser = self.here().await?;
        let browser = browser.as_mut().ok_or_else(super::room::gone)?;
        browser.stay_on(origin);
        let (pressed, before) = match self.pressed(browser, selector, page, errand, false).await? {
            Done::Now(pressed, before) => (pressed, before),
            Done::Before(stand) => {
                let document = super::room::known(&stand);
                let Stand { fingerprint, origin, .. } = *stand;
                let (complaint, shot) = (None, None);
                return Ok(Report::Moved { fingerprint, origin, complaint, shot, document });
            }
        };
        let mut words = told(&pressed);
        if pressed.windows > 0 {
            words.push(WINDOW.into());
        }
        let complaint = (!words.is_empty()).then(|| self.secrets().hide(&words.join("; ")));
        let shot = match complaint {
            Some(_) => self.picture(browser).await,
            None => None,
        };
        // A page that came back with the same fields is the page that it was.
        let came_back = pressed.stand.fingerprint == before;
        let document = super::room::known(&pressed.stand);
        let Stand { fingerprint, origin, .. } = pressed.stand;
        let fingerprint = if came_back { page.to_owned() } else { fingerprint };
        Ok(Report::Moved { fingerprint, origin, complaint, shot, document })
    }

    /// Presses the control that sends the form. Returns whether the page took it, and what
    /// the page says.
    pub(super) async fn submit(
        &self,
        arguments: &str,
        errand: &Errand,
    ) -> Result<(bool, String), Trouble> {
        let wrong =
            |error| Trouble::Call(format!("the call that sends the form is wrong: {error}"));
        let Submit { selector, page, origin } = serde_json::from_str(arguments).map_err(wrong)?;
        let mut guard = match self.here().await {
            Err(Trouble::Browser(error)) if errand.again => {
                return Err(BrowserError::Unsure(Box::new(error)).into());
            }
            here => here?,
        };
        let browser = guard.as_mut().ok_or_else(super::room::gone)?;
        if let Some(origin) = origin {
            browser.stay_on(&origin);
        }
        let done = self.pressed(browser, &selector, &page, errand, true).await?;
        let (taken, whole, mut says) = match &done {
            Done::Now(pressed, _) => judged(pressed),
            Done::Before(_) => (true, true, vec!["the page went on".into()]),
        };
        self.sent.store(taken, Relaxed);
        if whole {
            let words = open(guard.as_ref())?.words().await?;
            says.push(format!("it says: {words}"));
        }
        let mut says = self.secrets().hide(&says.join("; "));
        if let Some(shot) = self.picture(open(guard.as_ref())?).await {
            says = format!("{says}\n[screenshot {shot}]");
        }
        Ok((taken, says))
    }

    /// Presses a control, unless it is known to have been pressed before a crash: then the
    /// page is not the one any more on which that was about to happen.
    async fn pressed(
        &self,
        browser: &mut Browser,
        selector: &str,
        page: &str,
        errand: &Errand,
        confirmed: bool,
    ) -> Result<Done, Trouble> {
        let now = browser.settle(self.settings().settle).await?;
        if errand.again && self.was_pressed(browser, &now, page, errand, confirmed).await? {
            return Ok(Done::Before(Box::new(now)));
        }
        let pressing = browser.about_to_press(&errand.to_string(), &now).await?;
        *self.pressing.lock().unwrap_or_else(PoisonError::into_inner) = Some(pressing);
        self.document.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let pressed = browser.press(selector, &now, confirmed).await?;
        Ok(Done::Now(Box::new(pressed), now.fingerprint))
    }

    /// Returns whether a control was pressed for an order of which nobody knows how far it
    /// came.
    async fn was_pressed(
        &self,
        browser: &Browser,
        now: &Stand,
        page: &str,
        errand: &Errand,
        confirmed: bool,
    ) -> Result<bool, Trouble> {
        let written = self.pressing.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match written.filter(|before| before.errand == errand.to_string()) {
            Some(before) => {
                Ok(before.has_moved(now) || (confirmed && before.words != browser.gist().await?))
            }
            // It would have been written down.
            None if browser.writes_down() => Ok(false),
            None if confirmed => {
                let why = "it is not written down in a browser of somebody else".into();
                Err(BrowserError::Unsure(Box::new(BrowserError::Refused { why })).into())
            }
            None => Ok(now.fingerprint != page),
        }
    }
}

/// Returns whether a page took what was sent, whether all that it says is to be told, and
/// what is to be said of it besides.
fn judged(pressed: &Pressed) -> (bool, bool, Vec<String>) {
    let Pressed { rest, answer, went, windows, .. } = *pressed;
    let against = pressed.complaints.iter().any(|it| it.field.is_some());
    let back = went == Went::Anew && (rest == Rest::Filled || !pressed.complaints.is_empty());
    let dead = went == Went::Nowhere && answer == Answer::Nothing && windows == 0;
    let mut says = Vec::new();
    let taken = match rest {
        _ if status(pressed).is_some() => false,
        Rest::Filled | Rest::Emptied if back => {
            says.push("the form came back".into());
            false
        }
        Rest::Filled | Rest::Emptied if against => false,
        Rest::Filled if answer == Answer::Error => false,
        Rest::Filled | Rest::Gone if dead => {
            says.push("nothing on the page has changed".into());
            false
        }
        _ if went == Went::Nowhere => {
            says.push("the page stayed as it was".into());
            true
        }
        _ => {
            says.push("the page went on".into());
            true
        }
    };
    // Its own words are told as a whole where nothing is wrong.
    let mut more = if taken { Vec::new() } else { told(pressed) };
    if windows > 0 {
        more.push(WINDOW.into());
    }
    // What a page has against a form is told alone; else it is told what it says.
    let whole = taken || more.is_empty();
    says.extend(more);
    (taken, whole, says)
}

/// Returns the status of a page that says that something is wrong.
fn status(pressed: &Pressed) -> Option<u16> {
    pressed.stand.status.filter(|status| pressed.went == Went::Anew && *status >= WRONG)
}

/// Returns what a page and its dialogs have to say against what was done.
fn told(pressed: &Pressed) -> Vec<String> {
    let mut words: Vec<String> = pressed.dialogs.iter().map(said).collect();
    words.extend(status(pressed).map(|status| format!("the site answered with HTTP {status}")));
    words.extend(pressed.complaints.iter().take(COMPLAINTS).map(|it| it.text.clone()));
    words
}

/// Returns what a dialog said, and what became of it.
pub(super) fn said(dialog: &Dialog) -> String {
    let done = if dialog.accepted { "was agreed to" } else { "was dismissed" };
    format!("a dialog said {:?} and {done}", dialog.text)
}

#[cfg(test)]
mod tests {
    use pointsman_agents::form::{Complaint, Reading};

    use super::*;

    fn pressed(went: Went, answer: Answer, rest: Rest) -> Pressed {
        let stand = Stand {
            url: "http://a.test/x".into(),
            origin: "http://a.test".into(),
            title: String::new(),
            fingerprint: "one".into(),
            reading: Reading::default(),
            document: 1.0,
            status: Some(200),
        };
        let (dialogs, complaints) = (Vec::new(), Vec::new());
        Pressed { stand, went, answer, rest, dialogs, complaints, windows: 0 }
    }

    fn against(mut pressed: Pressed, field: Option<&str>) -> Pressed {
        let complaint = Complaint { field: field.map(str::to_owned), text: "No".into() };
        pressed.complaints.push(complaint);
        pressed
    }

    fn taken(pressed: &Pressed) -> bool {
        judged(pressed).0
    }

    #[test]
    fn a_form_was_taken_if_the_page_went_on_or_said_so() {
        use {Answer as A, Rest as R, Went as W};
        assert!(taken(&pressed(W::Anew, A::Words, R::Gone)));
        assert!(taken(&pressed(W::On, A::Words, R::Gone)));
        assert!(taken(&pressed(W::Nowhere, A::Words, R::Filled)));
        // It was emptied, or is there again for the next.
        assert!(taken(&pressed(W::Nowhere, A::Nothing, R::Emptied)));
        assert!(taken(&pressed(W::Anew, A::Words, R::Emptied)));
        // A word of thanks is no complaint, whatever role it has.
        assert!(taken(&against(pressed(W::Nowhere, A::Words, R::Filled), None)));
        let window = Pressed { windows: 1, ..pressed(W::Nowhere, A::Nothing, R::Filled) };
        assert!(taken(&window));
    }

    #[test]
    fn a_form_was_not_taken_if_it_is_still_there_or_nothing_happened() {
        use {Answer as A, Rest as R, Went as W};
        let (_, whole, says) = judged(&pressed(W::Nowhere, A::Nothing, R::Filled));
        assert!(whole && says == ["nothing on the page has changed"], "{says:?}");
        assert!(!taken(&pressed(W::Nowhere, A::Nothing, R::Gone)));
        assert!(!taken(&pressed(W::Anew, A::Words, R::Filled)));
        assert!(!taken(&pressed(W::Nowhere, A::Error, R::Filled)));
        assert!(!taken(&against(pressed(W::Nowhere, A::Words, R::Filled), Some("f1"))));
        let (taken_anew, whole, says) =
            judged(&against(pressed(W::Anew, A::Words, R::Emptied), None));
        assert!(!taken_anew && !whole && says == ["the form came back", "No"], "{says:?}");
        let mut broken = pressed(W::Anew, A::Words, R::Gone);
        broken.stand.status = Some(500);
        assert_eq!(judged(&broken).2, ["the site answered with HTTP 500"]);
        let mut spoke = pressed(W::Nowhere, A::Nothing, R::Filled);
        spoke.dialogs.push(Dialog { text: "Name?".into(), accepted: true });
        assert!(!taken(&spoke));
    }
}
