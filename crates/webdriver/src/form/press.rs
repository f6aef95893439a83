//! Pressing controls for a run: exactly once.

use std::sync::{PoisonError, atomic::Ordering::Relaxed};

use pointsman_agents::form::{FormReport, NavigationControl};
use pointsman_runtime::effect::Permit;
use serde::Deserialize;

use super::{
    error::TaskError,
    session::{BrowserSession, open},
};
use crate::browser::{
    Browser, BrowserDialog, BrowserError, FormRemainder, Navigation, PageResponse, PressResult,
    PressTarget, StablePage,
};

/// How many complaints of a page to report.
const COMPLAINTS: usize = 5;
/// Characters of a label that are compared.
const START: usize = 190;
/// The first HTTP status that says that something is wrong.
const WRONG: u16 = 400;

pub(super) const WINDOW: &str = "it opened another window, which is left to you";

/// What the tool is given that sends a form.
#[derive(Debug, Deserialize)]
struct Submit {
    selector: String,
    #[serde(default)]
    label: String,
    page: String,
    origin: Option<String>,
    target: Option<String>,
}

/// A control to press.
#[derive(Clone, Copy)]
struct WantedControl<'a> {
    selector: &'a str,
    label: &'a str,
}

impl WantedControl<'_> {
    /// Returns how it has changed, if nothing else is known about the approved page.
    fn differs(self, now: &StablePage) -> Option<String> {
        let found = now.reading.controls.iter().find(|it| it.selector == self.selector);
        let Some(found) = found else {
            return Some(format!("`{}` is no longer there", self.label));
        };
        // A long label is cut in the call.
        let start = |label: &str| label.chars().take(START).collect::<String>();
        let differs = start(&found.label) != start(self.label) && !self.label.is_empty();
        differs.then(|| format!("`{}` says `{}` now", self.label, found.label))
    }
}

/// Its result.
enum PressOutcome {
    /// It was pressed now, on a page that is known by this.
    Now(Box<PressResult>, String),
    /// It was pressed before a crash, on this page, and this is the page now.
    Before(Box<PressTarget>, Box<StablePage>),
}

impl BrowserSession {
    /// Presses the control that leads on.
    pub(super) async fn press(
        &self,
        control: &NavigationControl,
        page: &str,
        origin: &str,
        permit: &Permit,
    ) -> Result<FormReport, TaskError> {
        let mut browser = self.here().await?;
        let browser = browser.as_mut().ok_or_else(super::session::gone)?;
        browser.stay_on(origin);
        let wanted = WantedControl { selector: &control.selector, label: &control.label };
        let (pressed, before) = match self.pressed(browser, wanted, page, permit, false).await? {
            PressOutcome::Now(pressed, before) => (pressed, before),
            PressOutcome::Before(_, stand) => {
                let document = super::session::known(&stand);
                let StablePage { fingerprint, origin, .. } = *stand;
                let (complaint, shot) = (None, None);
                return Ok(FormReport::Moved { fingerprint, origin, complaint, shot, document });
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
        let document = super::session::known(&pressed.stand);
        let StablePage { fingerprint, origin, .. } = pressed.stand;
        let fingerprint = if came_back { page.to_owned() } else { fingerprint };
        Ok(FormReport::Moved { fingerprint, origin, complaint, shot, document })
    }

    /// Presses the control that sends the form. Returns whether the page took it, and what
    /// the page says.
    pub(super) async fn submit(
        &self,
        arguments: &str,
        permit: &Permit,
    ) -> Result<(bool, String), TaskError> {
        let wrong =
            |error| TaskError::Call(format!("the call that sends the form is invalid: {error}"));
        let Submit { selector, label, page, origin, target } =
            serde_json::from_str(arguments).map_err(wrong)?;
        let mut guard = match self.here().await {
            Err(TaskError::Browser(error)) if permit.again => {
                return Err(BrowserError::Unsure(Box::new(error)).into());
            }
            here => here?,
        };
        let browser = guard.as_mut().ok_or_else(super::session::gone)?;
        if let Some(origin) = &origin {
            browser.stay_on(origin);
        }
        let wanted = WantedControl { selector: &selector, label: &label };
        let done = self.pressed(browser, wanted, &page, permit, true).await?;
        let ((taken, whole, mut says), now) = match &done {
            PressOutcome::Now(pressed, _) => (judged(pressed), &pressed.stand),
            PressOutcome::Before(before, stand) => (judged_later(before, stand)?, &**stand),
        };
        // A site may send its visitors on, and the person must know where.
        let known = |site: &Option<String>| site.as_ref().is_none_or(|it| *it == now.origin);
        if !(known(&origin) || target.is_some() && known(&target)) {
            says.push(format!("it led to another site, {}", now.origin));
        }
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
    /// page is no longer the one on which that was about to happen.
    async fn pressed(
        &self,
        browser: &mut Browser,
        wanted: WantedControl<'_>,
        page: &str,
        permit: &Permit,
        confirmed: bool,
    ) -> Result<PressOutcome, TaskError> {
        let now = browser.settle(self.settings().settle).await?;
        if permit.again
            && let Some(before) = self.was_pressed(browser, &now, page, permit, confirmed).await?
        {
            return Ok(PressOutcome::Before(Box::new(before), Box::new(now)));
        }
        let agreed = self.agreed.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let differs = match agreed {
            Some(agreed) => agreed.differs(&now, wanted.selector),
            None => wanted.differs(&now),
        };
        if let Some(what) = differs {
            return Err(BrowserError::NotAgreed { what }.into());
        }
        let pressing = browser.about_to_press(&permit.to_string(), &now)?;
        *self.pressing.lock().unwrap_or_else(PoisonError::into_inner) = Some(pressing);
        self.document.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let pressed = browser.press(wanted.selector, &now, confirmed).await?;
        Ok(PressOutcome::Now(Box::new(pressed), now.fingerprint))
    }

    /// Returns the page on which a control was pressed, for an order that may be partly done;
    /// nothing if it was not pressed.
    async fn was_pressed(
        &self,
        browser: &Browser,
        now: &StablePage,
        page: &str,
        permit: &Permit,
        confirmed: bool,
    ) -> Result<Option<PressTarget>, TaskError> {
        let written = self.pressing.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match written.filter(|before| before.errand == permit.to_string()) {
            // Words that change by themselves say nothing: whether the click has arrived is
            // known as long as the document is the same.
            Some(before) => {
                let pressed = before.is_gone(now) || browser.was_clicked().await?;
                Ok(pressed.then_some(before))
            }
            // It would have been written down.
            None if browser.writes_down() => Ok(None),
            None if confirmed => Err(BrowserError::Unrecorded.into()),
            None if now.fingerprint == page => Ok(None),
            None => Ok(Some(PressTarget {
                errand: permit.to_string(),
                fingerprint: page.into(),
                url: now.url.clone(),
                document: now.document,
                words: String::new(),
            })),
        }
    }
}

/// Returns the result of a form whose control was pressed before a crash, as [`judged`] does. The
/// page's reaction was not seen, so any unclear result is unknown.
fn judged_later(
    before: &PressTarget,
    now: &StablePage,
) -> Result<(bool, bool, Vec<String>), BrowserError> {
    let anew = before.is_gone(now);
    let status = now.status.filter(|status| anew && *status >= WRONG);
    if let Some(status) = status {
        return Ok((false, true, vec![format!("the site answered with HTTP {status}")]));
    }
    let complaints = &now.reading.complaints;
    let came_back = before.fingerprint == now.fingerprint;
    if came_back && !complaints.is_empty() {
        let mut says = vec!["the form came back".to_owned()];
        says.extend(complaints.iter().take(COMPLAINTS).map(|it| it.text.clone()));
        return Ok((false, false, says));
    }
    let plain = anew && !came_back && complaints.is_empty() && now.status.is_some();
    if plain && now.reading.fields.is_empty() {
        return Ok((true, true, vec!["the next page opened".into()]));
    }
    Err(BrowserError::Unsure(Box::new(BrowserError::Unseen)))
}

/// Returns whether a page accepted the form, whether to report all of its text, and further
/// remarks.
fn judged(pressed: &PressResult) -> (bool, bool, Vec<String>) {
    let PressResult { rest, answer, went, windows, .. } = *pressed;
    let against = pressed.complaints.iter().any(|it| it.field.is_some());
    let back = went == Navigation::Anew
        && (rest == FormRemainder::Filled || !pressed.complaints.is_empty());
    let dead = went == Navigation::Nowhere && answer == PageResponse::Nothing && windows == 0;
    let mut says = Vec::new();
    let taken = match rest {
        _ if status(pressed).is_some() => false,
        FormRemainder::Filled | FormRemainder::Emptied if back => {
            says.push("the form came back".into());
            false
        }
        FormRemainder::Filled | FormRemainder::Emptied if against => false,
        FormRemainder::Filled if answer == PageResponse::Error => false,
        FormRemainder::Filled | FormRemainder::Gone if dead => {
            says.push("nothing on the page has changed".into());
            false
        }
        _ if went == Navigation::Nowhere => {
            says.push("the page did not change".into());
            true
        }
        _ => {
            says.push("the next page opened".into());
            true
        }
    };
    // The page's text is reported as a whole if nothing is wrong.
    let mut more = if taken { Vec::new() } else { told(pressed) };
    if windows > 0 {
        more.push(WINDOW.into());
    }
    // Complaints are reported alone; otherwise the page's text is reported.
    let whole = taken || more.is_empty();
    says.extend(more);
    (taken, whole, says)
}

/// Returns the status of a page that says that something is wrong.
fn status(pressed: &PressResult) -> Option<u16> {
    pressed.stand.status.filter(|status| pressed.went == Navigation::Anew && *status >= WRONG)
}

/// Returns the objections of a page and its dialogs.
fn told(pressed: &PressResult) -> Vec<String> {
    let mut words: Vec<String> = pressed.dialogs.iter().map(said).collect();
    words.extend(status(pressed).map(|status| format!("the site answered with HTTP {status}")));
    words.extend(pressed.complaints.iter().take(COMPLAINTS).map(|it| it.text.clone()));
    words
}

/// Describes a dialog and how it was answered.
pub(super) fn said(dialog: &BrowserDialog) -> String {
    let done = if dialog.accepted { "was accepted" } else { "was dismissed" };
    format!("a dialog said {:?} and {done}", dialog.text)
}

#[cfg(test)]
mod tests {
    use pointsman_agents::form::{Complaint, PageReading};

    use super::*;

    fn pressed(went: Navigation, answer: PageResponse, rest: FormRemainder) -> PressResult {
        let stand = StablePage {
            url: "http://a.test/x".into(),
            origin: "http://a.test".into(),
            title: String::new(),
            fingerprint: "one".into(),
            reading: PageReading::default(),
            document: 1.0,
            status: Some(200),
        };
        let (dialogs, complaints) = (Vec::new(), Vec::new());
        PressResult { stand, went, answer, rest, dialogs, complaints, windows: 0 }
    }

    fn against(mut pressed: PressResult, field: Option<&str>) -> PressResult {
        let complaint = Complaint { field: field.map(str::to_owned), text: "No".into() };
        pressed.complaints.push(complaint);
        pressed
    }

    fn taken(pressed: &PressResult) -> bool {
        judged(pressed).0
    }

    #[test]
    fn a_form_was_taken_if_the_page_went_on_or_said_so() {
        use {FormRemainder as R, Navigation as W, PageResponse as A};
        assert!(taken(&pressed(W::Anew, A::Words, R::Gone)));
        assert!(taken(&pressed(W::On, A::Words, R::Gone)));
        assert!(taken(&pressed(W::Nowhere, A::Words, R::Filled)));
        // It was emptied, or is there again for the next.
        assert!(taken(&pressed(W::Nowhere, A::Nothing, R::Emptied)));
        assert!(taken(&pressed(W::Anew, A::Words, R::Emptied)));
        // A thank-you message is not a complaint, whatever its role.
        assert!(taken(&against(pressed(W::Nowhere, A::Words, R::Filled), None)));
        let window = PressResult { windows: 1, ..pressed(W::Nowhere, A::Nothing, R::Filled) };
        assert!(taken(&window));
    }

    #[test]
    fn unchanged_page_means_the_form_was_not_accepted() {
        use {FormRemainder as R, Navigation as W, PageResponse as A};
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
        spoke.dialogs.push(BrowserDialog { text: "Name?".into(), accepted: true });
        assert!(!taken(&spoke));
    }

    #[test]
    fn press_before_a_crash_is_judged_by_the_sites_response() {
        let before = PressTarget {
            errand: "1".into(),
            fingerprint: "form".into(),
            url: "http://a.test/form".into(),
            document: 1.0,
            words: String::new(),
        };
        let stand = |document: f64, fingerprint: &str, status: Option<u16>| {
            let stand = pressed(Navigation::Anew, PageResponse::Words, FormRemainder::Gone).stand;
            StablePage { document, fingerprint: fingerprint.into(), status, ..stand }
        };
        let judged = |now: &StablePage| judged_later(&before, now).map(|(taken, ..)| taken).ok();
        assert_eq!(judged(&stand(2.0, "thanks", Some(200))), Some(true));
        assert_eq!(judged(&stand(2.0, "thanks", Some(500))), Some(false));
        // The form is back without a message, the status is unknown, or the same document shows
        // something else: each may be the page's own behaviour.
        assert_eq!(judged(&stand(2.0, "form", Some(200))), None);
        assert_eq!(judged(&stand(2.0, "thanks", None)), None);
        assert_eq!(judged(&stand(1.0, "thanks", Some(200))), None);
        let mut back = stand(2.0, "form", Some(200));
        back.reading.complaints.push(Complaint { field: None, text: "No".into() });
        assert_eq!(judged(&back), Some(false));
    }
}
