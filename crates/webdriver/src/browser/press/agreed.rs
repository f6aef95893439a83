//! What a yes is for: a page, its controls, what is written on them and where they lead.

use std::collections::BTreeMap;

use pointsman_agents::form::NavigationControl;
use serde::{Deserialize, Serialize};

use super::StablePage;

/// A page as it was when the way on was chosen. A yes to a control is a yes to this page.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct AgreedPage {
    /// Which document it was.
    document: f64,
    /// What it was known by.
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

    /// Returns what is different about the page, or about one of its controls.
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
            return Some(format!("`{}` is not there any more", asked.label));
        };
        if asked.label != found.label {
            return Some(format!("`{}` says `{}` now", asked.label, found.label));
        }
        if asked.origin != found.origin {
            let to = found.origin.as_deref().unwrap_or("a page that it does not name");
            return Some(format!("`{}` leads to {to} now", asked.label));
        }
        if asked != found {
            return Some(format!("`{}` does something else now", asked.label));
        }
        let moved = self.fingerprint != now.fingerprint;
        moved.then(|| "it shows other fields".into())
    }
}

/// Returns a control without what may change while it stays what it is.
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
    fn a_yes_is_for_this_page_this_control_and_where_it_leads() {
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
        assert_eq!(differs(&pays), "`Send` says `Pay 500` now");
        let away =
            stand(NavigationControl { origin: Some("http://b.test".into()), ..send.clone() });
        assert_eq!(differs(&away), "`Send` leads to http://b.test now");
        let script = stand(NavigationControl { does: ControlRole::Button, ..send.clone() });
        assert_eq!(differs(&script), "`Send` does something else now");
        let gone = stand(NavigationControl { selector: "#other".into(), ..send });
        assert_eq!(differs(&gone), "`Send` is not there any more");
        let anew = StablePage { document: 2.0, ..before.clone() };
        assert_eq!(differs(&anew), "another page was loaded in its place");
        let fields = StablePage { fingerprint: "two".into(), ..before };
        assert_eq!(differs(&fields), "it shows other fields");
    }
}
