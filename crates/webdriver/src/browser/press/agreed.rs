//! The scope of an approval: a page, its controls, their texts and their targets.

use std::collections::BTreeMap;

use pointsman_agents::form::NavigationControl;
use serde::{Deserialize, Serialize};

use super::StablePage;

/// The page when the control was chosen. An approval of a control is for this page.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct AgreedPage {
    /// Which document it was.
    document: f64,
    /// Its identity.
    fingerprint: String,
    /// What could be pressed.
    controls: Vec<NavigationControl>,
}

impl AgreedPage {
    /// Keeps what a page shows.
    pub fn of(stand: &StablePage) -> Self {
        Self {
            document: stand.document,
            fingerprint: stand.fingerprint.clone(),
            controls: stand.reading.controls.iter().map(bare).collect(),
        }
    }

    /// Returns how the page, or one of its controls, has changed.
    pub fn differs(&self, now: &StablePage, selector: &str) -> Option<String> {
        if (self.document - now.document).abs() > 0.0 {
            return Some("another page was loaded in its place".into());
        }
        let find = |controls: &[NavigationControl]| {
            controls.iter().find(|it| it.selector == selector).map(bare)
        };
        let Some(asked) = find(&self.controls) else {
            return Some("the control was not there when the page was read".into());
        };
        let Some(found) = find(&now.reading.controls) else {
            return Some(format!("`{}` is no longer there", asked.label));
        };
        if asked.label != found.label {
            return Some(format!("`{}` now says `{}`", asked.label, found.label));
        }
        if asked.origin != found.origin {
            let to = found.origin.as_deref().unwrap_or("an unknown page");
            return Some(format!("`{}` now leads to {to}", asked.label));
        }
        if asked != found {
            return Some(format!("`{}` now does something else", asked.label));
        }
        let moved = self.fingerprint != now.fingerprint;
        moved.then(|| "its fields have changed".into())
    }
}

/// Returns a control without the parts that may change.
fn bare(control: &NavigationControl) -> NavigationControl {
    NavigationControl { attributes: BTreeMap::new(), ..control.clone() }
}

#[cfg(test)]
mod tests {
    use pointsman_agents::form::{ControlRole, PageReading};

    use super::*;

    fn stand(control: NavigationControl) -> StablePage {
        let reading = PageReading { controls: vec![control], ..PageReading::default() };
        StablePage {
            url: "http://a.test/x".into(),
            origin: "http://a.test".into(),
            title: String::new(),
            fingerprint: "one".into(),
            reading,
            document: 1.0,
            status: Some(200),
        }
    }

    #[test]
    fn approval_covers_only_this_page_control_and_target() {
        let send = NavigationControl {
            selector: "#go".into(),
            label: "Send".into(),
            does: ControlRole::Submit,
            origin: Some("http://a.test".into()),
            ..NavigationControl::default()
        };
        let before = stand(send.clone());
        let agreed = AgreedPage::of(&before);
        let differs = |now: &StablePage| agreed.differs(now, "#go").unwrap_or_default();
        assert_eq!(differs(&before), "");
        let pays = stand(NavigationControl { label: "Pay 500".into(), ..send.clone() });
        assert_eq!(differs(&pays), "`Send` now says `Pay 500`");
        let away =
            stand(NavigationControl { origin: Some("http://b.test".into()), ..send.clone() });
        assert_eq!(differs(&away), "`Send` now leads to http://b.test");
        let script = stand(NavigationControl { does: ControlRole::Button, ..send.clone() });
        assert_eq!(differs(&script), "`Send` now does something else");
        let gone = stand(NavigationControl { selector: "#other".into(), ..send });
        assert_eq!(differs(&gone), "`Send` is no longer there");
        let anew = StablePage { document: 2.0, ..before.clone() };
        assert_eq!(differs(&anew), "another page was loaded in its place");
        let fields = StablePage { fingerprint: "two".into(), ..before };
        assert_eq!(differs(&fields), "its fields have changed");
    }
}
