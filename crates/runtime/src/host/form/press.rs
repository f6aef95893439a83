//! Controls are pressed for a run: once, whatever happens.

use std::sync::PoisonError;

use pointsman_agents::form::Report;
use serde::Deserialize;

use super::room::{Room, Trouble, open};
use crate::browser::{Browser, Dialog, Pressed, Pressing, Stand};

/// Complaints of a page that are told.
const COMPLAINTS: usize = 5;

/// What the tool is given that sends a form.
#[derive(Debug, Deserialize)]
struct Submit {
    selector: String,
    page: String,
}

impl Room {
    /// Presses the control that leads on.
    pub(super) async fn press(
        &self,
        selector: &str,
        page: &str,
        again: bool,
    ) -> Result<Report, Trouble> {
        let mut browser = self.here().await?;
        let browser = browser.as_mut().ok_or_else(super::room::gone)?;
        let pressed = self.pressed(browser, selector, page, again, false).await?;
        let complaint = told(&pressed).map(|words| self.hide(&words));
        let shot = match complaint {
            Some(_) => self.picture(browser).await,
            None => None,
        };
        // A page that came back with the same fields is the page that it was.
        let fingerprint = if pressed.moved { pressed.stand.fingerprint } else { page.to_owned() };
        Ok(Report::Moved { fingerprint, origin: pressed.stand.origin, complaint, shot })
    }

    /// Presses the control that sends the form. Returns whether the page took it, and what
    /// the page says.
    pub(super) async fn submit(
        &self,
        arguments: &str,
        again: bool,
    ) -> Result<(bool, String), Trouble> {
        let wrong =
            |error| Trouble::Call(format!("the call that sends the form is wrong: {error}"));
        let Submit { selector, page } = serde_json::from_str(arguments).map_err(wrong)?;
        let mut guard = match self.here().await {
            Err(trouble) if again => {
                let says = format!("nobody knows whether the form was sent: {trouble}");
                return Ok((false, says));
            }
            here => here?,
        };
        let browser = guard.as_mut().ok_or_else(super::room::gone)?;
        let pressed = self.pressed(browser, &selector, &page, again, true).await?;
        let complaint = told(&pressed);
        let same = !pressed.moved;
        let mut says = match (&complaint, same) {
            (Some(complaint), true) => complaint.clone(),
            (_, same) => {
                let words = open(guard.as_ref())?.words().await?;
                let stays = if same { "the page stayed as it was" } else { "the page went on" };
                format!("{stays}; it says: {words}")
            }
        };
        says = self.hide(&says);
        if let Some(shot) = self.picture(open(guard.as_ref())?).await {
            says = format!("{says}\n[screenshot {shot}]");
        }
        Ok((!(same && complaint.is_some()), says))
    }

    /// Presses a control, unless it is known to have been pressed before a crash: then the
    /// page is not the one any more on which that was about to happen.
    async fn pressed(
        &self,
        browser: &mut Browser,
        selector: &str,
        page: &str,
        again: bool,
        confirmed: bool,
    ) -> Result<Pressed, Trouble> {
        let now = browser.settle(self.settings().settle).await?;
        if again && self.was_pressed(&now, page) {
            let (dialogs, complaints) = (Vec::new(), Vec::new());
            return Ok(Pressed { stand: now, moved: true, dialogs, complaints, windows: 0 });
        }
        let before = Pressing::from(&now);
        browser.about_to_press(&before)?;
        let mut pressed = browser.press(selector, &now, confirmed).await?;
        // One that was loaded anew with the same fields came back.
        pressed.moved &= pressed.stand.fingerprint != before.fingerprint
            || (pressed.complaints.is_empty() && confirmed);
        Ok(pressed)
    }

    fn was_pressed(&self, now: &Stand, page: &str) -> bool {
        let pressing = self.pressing.lock().unwrap_or_else(PoisonError::into_inner);
        pressing.as_ref().map_or(now.fingerprint != page, |before| before.has_moved(now))
    }
}

/// Returns what a page and its dialogs have to say against what was done.
fn told(pressed: &Pressed) -> Option<String> {
    let dialog = |Dialog { text, accepted }: &Dialog| {
        let done = if *accepted { "was agreed to" } else { "was dismissed" };
        format!("a dialog said {text:?} and {done}")
    };
    let mut words: Vec<String> =
        pressed.dialogs.iter().filter(|it| !it.accepted).map(dialog).collect();
    words.extend(pressed.complaints.iter().take(COMPLAINTS).cloned());
    if pressed.windows > 0 {
        words.push("it opened another window, which is left to you".into());
    }
    (!words.is_empty()).then(|| words.join("; "))
}
