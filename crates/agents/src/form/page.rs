//! The page that a run is on: whether it may be there, what it finds, and what it plans.

use alloc::{format, string::String, vec::Vec};

use pointsman_kernel::agent::{Fault, FaultClass};

use super::{
    data::{FormData, MAX_WORDS},
    ending::Ending,
    field::Field,
    navigation,
    plan::{self, SkipReason},
    report::{FieldRow, Status, ValueOrigin},
    text,
};
use crate::answer;

/// The most fields of one page; the budget of the chart is no smaller.
const MAX_FIELDS: usize = 200;
/// Remarks on pages that are kept.
const MAX_REMARKS: usize = 20;

/// What there is to do on a page.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum PagePlan {
    /// Some of its fields are ours to fill.
    Fillable,
    /// There is none to fill, and the form can continue.
    Passed,
    /// None is, so there is nothing to do here.
    Nothing,
}

impl FormData {
    /// Returns the page to open, before the first one is.
    pub(super) fn first_url(&self) -> Option<String> {
        self.config.url.clone().filter(|_| self.page == 0)
    }

    /// Takes a settled page. The person allowed the agent to act only on the named site.
    pub(super) fn open_page(
        &mut self,
        fingerprint: &str,
        origin: &str,
        title: &str,
        status: Option<u16>,
    ) -> Result<(), Fault> {
        let strange = |how: &str| {
            let message = format!("{how} `{origin}`, which is another site");
            Err(answer::refused(FaultClass::Forbidden, message))
        };
        if self.page == 0 {
            let named = self.config.url.as_deref();
            if named.is_some_and(|url| !navigation::same_site(url, origin)) && !self.permits(origin)
            {
                return strange("the address led to");
            }
            self.origin = text::cut(origin, MAX_WORDS);
        } else if !self.permits(origin) {
            return strange("the page led to");
        }
        if !self.again {
            self.page = self.page.saturating_add(1);
            // Where a new page is expected, any document will do.
            self.document.clear();
        }
        self.site = text::cut(origin, MAX_WORDS);
        self.title = text::cut(title, MAX_WORDS);
        self.status = status;
        self.seen.push(text::cut(fingerprint, MAX_WORDS));
        self.fields.clear();
        self.order.clear();
        self.start_field(0);
        Ok(())
    }

    /// Takes the fields of the page, and returns whether there are any. The first page must have
    /// some, and a page with an error status is not part of a form.
    pub(super) fn take_fields(&mut self, fields: Vec<Field>) -> Result<bool, Fault> {
        let broken = self.status.is_some_and(|status| matches!(status, 404 | 410 | 500..));
        let refused = self.status.is_some_and(|status| status >= 400);
        if broken || (fields.is_empty() && (self.page == 1 || refused)) {
            let status = self.status.filter(|_| refused);
            let status = status.map(|it| format!(" (HTTP {it})")).unwrap_or_default();
            let url = self.config.url.as_deref().unwrap_or("URL");
            let first = self.page == 1 && !self.by_itself;
            self.next = first.then(|| format!("check the page with `pointsman fields {url}`"));
            let message = if self.by_itself {
                format!("another page loaded, and it shows no form{status}")
            } else {
                format!("the page shows no form{status}")
            };
            return Err(answer::refused(FaultClass::Invalid, message));
        }
        self.fields.clear();
        for mut field in fields {
            field.label = text::cut(&field.label, MAX_WORDS);
            field.context = text::cut(&field.context, MAX_WORDS);
            if self.fields.len() < MAX_FIELDS {
                self.fields.push(field);
            } else if plan::kept_out(&field, &self.config) != Some(SkipReason::Hidden) {
                self.row(FieldRow::left(self.page, &field, SkipReason::TooMany));
            }
        }
        Ok(!self.fields.is_empty())
    }

    /// Orders the fields to fill as on the page. Invisible fields have no row.
    pub(super) fn plan(&mut self) -> PagePlan {
        let mut rows = Vec::new();
        let mut order = Vec::new();
        let mut held = Vec::new();
        for (at, field) in (0..).zip(&self.fields) {
            match plan::kept_out(field, &self.config) {
                Some(SkipReason::Hidden) => {}
                _ if self.again && self.is_done(field) => {}
                None => {
                    order.push(at);
                    let known = plan::key(field, &self.config.profile).is_some();
                    let origin = if known { ValueOrigin::Profile } else { ValueOrigin::Model };
                    rows.push(FieldRow::of(self.page, field, origin, Status::Planned));
                }
                Some(why) => {
                    held.push(why);
                    rows.push(FieldRow::left(self.page, field, why));
                }
            }
        }
        for row in rows {
            self.row(row);
        }
        self.order = order;
        self.start_field(0);
        // A prefilled form can continue; a form without any field that can be filled cannot. A
        // model's text plays no part in that.
        let prefilled = held.contains(&SkipReason::HoldsValue)
            && held.iter().all(|why| matches!(why, SkipReason::HoldsValue | SkipReason::Disabled));
        if !self.order.is_empty() {
            PagePlan::Fillable
        } else if self.page > 1 || self.again || prefilled {
            PagePlan::Passed
        } else {
            self.ending = Some(Ending::Unsafe);
            self.why_handed_over = Some("the profile fills none of the fields".into());
            self.next = Some("add answers to the profile, under the labels of the fields".into());
            PagePlan::Nothing
        }
    }

    /// Returns whether a field was handled when the page was read before. A field that the page
    /// has emptied since is filled again, but a model is asked once: otherwise its text would
    /// decide what is done.
    fn is_done(&self, field: &Field) -> bool {
        let row = self.rows.iter().find(|row| row.page == self.page && row.field == field.id);
        row.is_some_and(|row| match row.status {
            Status::Filled => field.holds_value || row.source == ValueOrigin::Model,
            Status::Skipped => row.source == ValueOrigin::Model,
            Status::Left(why) => why == SkipReason::NoText,
            Status::Planned | Status::Refused | Status::Failed => false,
        })
    }

    /// Returns what the page is known by.
    pub(super) fn fingerprint(&self) -> String {
        self.seen.last().cloned().unwrap_or_default()
    }

    /// Returns the site that the page is on.
    pub(super) fn site(&self) -> String {
        self.site.clone()
    }

    pub(super) fn permits(&self, origin: &str) -> bool {
        origin == self.origin
            || self.config.sites.iter().any(|site| navigation::same_site(site, origin))
    }

    /// Takes what the page is known by after the last field, and returns whether it must be
    /// read again: filling a field may bring others. A page that was seen before is not, so
    /// this ends.
    pub(super) fn is_another(&mut self, fingerprint: &str) -> bool {
        let now = text::cut(fingerprint, MAX_WORDS);
        if now.is_empty() || self.seen.last() == Some(&now) {
            return false;
        }
        self.again = !self.seen.contains(&now);
        self.seen.push(now);
        self.again
    }

    /// Keeps what there is to say about the whole page, once.
    pub(super) fn remark_on_page(&mut self, said: Option<String>) {
        let Some(said) = said else { return };
        let said = format!("page {}: {}", self.page, text::cut(said.trim(), MAX_WORDS));
        if !self.remarks.contains(&said) && self.remarks.len() < MAX_REMARKS {
            self.remarks.push(said);
        }
    }

    /// Takes the page that a control led to, and returns whether to continue with it.
    pub(super) fn moved(
        &mut self,
        fingerprint: &str,
        origin: &str,
        complaint: Option<&str>,
    ) -> Result<bool, Fault> {
        if !origin.is_empty() && !self.permits(origin) {
            self.ending = Some(Ending::Unsafe);
            self.why_handed_over = Some(format!("the page led to another site, `{origin}`"));
            self.next = Some(navigation::ELSEWHERE.into());
            return Ok(false);
        }
        if self.seen.contains(&text::cut(fingerprint, MAX_WORDS)) {
            let says = complaint.map(|words| format!(", and says: {}", text::cut(words, 500)));
            let message = "the form came back after its control was pressed";
            let message = format!("{message}{}", says.unwrap_or_default());
            return Err(answer::refused(FaultClass::Invalid, message));
        }
        self.again = false;
        Ok(true)
    }
}
