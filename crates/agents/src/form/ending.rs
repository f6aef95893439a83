//! How a run ends: the next step after the last page, what is left to the person, and why.

use alloc::{format, string::String, vec::Vec};

use pointsman_kernel::{
    agent::{Abandoned, FaultClass},
    chart::Budget,
};
use serde::{Deserialize, Serialize};

use super::{
    data::{FormData, MAX_WORDS},
    navigation::{self, ControlEffect, ControlRole, MissingField, NavigationControl, NextStep},
    plan::{self, SkipReason},
    report::{Status, Submission},
    text,
};
use crate::answer;

/// Pictures that are kept at most.
const MAX_SHOTS: usize = 100;

/// How a run ended that did not press the control which sends the form.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Ending {
    /// The person wanted nothing to be sent.
    Unsent,
    /// A person or a rule said no, or the run is unattended.
    Denied,
    /// It was not safe to continue.
    Unsafe,
    /// There was nothing to press.
    NoMore,
}

impl FormData {
    /// Returns what to do with the controls of the page.
    pub(super) fn way<'a>(&self, controls: &'a [NavigationControl]) -> NextStep<'a> {
        let permitted = |origin: &str| self.permits(origin);
        let misses = self.misses_required();
        if !self.fields.is_empty() {
            let all: Vec<&NavigationControl> = controls.iter().collect();
            return navigation::choose(&all, &permitted, misses);
        }
        // Without fields there is no form to which controls belong: these are those of the whole
        // page. Only controls made for sending count, and whether they send this form is unknown.
        let made: Vec<&NavigationControl> =
            controls.iter().filter(|it| it.does == ControlRole::Submit).collect();
        match navigation::choose(&made, &permitted, misses) {
            NextStep::Submit(control, ControlEffect::Send) => {
                NextStep::Submit(control, ControlEffect::Unknown)
            }
            way @ (NextStep::Press(_)
            | NextStep::Submit(..)
            | NextStep::Nothing
            | NextStep::Persons(..)) => way,
        }
    }

    /// Returns the required field that is not ours to fill, or one that the page has switched
    /// off under our hands, if there is one. A field for
    /// which the model had no text does not count: that would let its text route. A test
    /// that its reader is a person is wanted, whether the page says so or not.
    fn misses_required(&self) -> Option<MissingField<'_>> {
        let left = self.fields.iter().find_map(|field| {
            let why = plan::kept_out(field, &self.config).filter(|why| why.misses())?;
            let wanted = field.required || why == SkipReason::Captcha;
            (wanted && !field.holds_value).then_some(MissingField { label: &field.label, why })
        });
        let beyond = || {
            let mut rows = self.rows.iter().filter(|row| row.page == self.page && row.required);
            let row = rows.find(|row| row.status == Status::Left(SkipReason::TooMany))?;
            Some(MissingField { label: &row.label, why: SkipReason::TooMany })
        };
        let off = || {
            let mut rows = self.rows.iter().filter(|row| row.page == self.page);
            let row = rows.find(|row| row.status == Status::Left(SkipReason::SwitchedOff))?;
            Some(MissingField { label: &row.label, why: SkipReason::SwitchedOff })
        };
        left.or_else(beyond).or_else(off)
    }

    /// Leaves the controls to the person.
    pub(super) fn hand_over(
        &mut self,
        controls: &[&NavigationControl],
        ending: Ending,
        why: Option<(String, String)>,
    ) {
        let labels = controls.iter().take(20).map(|control| text::cut(&control.label, MAX_WORDS));
        self.handed_over = labels.collect();
        self.ending = Some(ending);
        if let Some((why, next)) = why {
            self.why_handed_over = Some(why);
            self.next = Some(next);
        }
    }

    /// Takes which document the page is. Another one than before, for which nothing was
    /// pressed, is a page that went on by itself: it may have sent what was filled in.
    pub(super) fn take_document(&mut self, document: String) {
        if document.is_empty() {
            return;
        }
        self.by_itself |= !self.document.is_empty() && self.document != document;
        self.document = document;
    }

    pub(super) fn about_to_go_on(&mut self, control: &NavigationControl) {
        self.pressing = Some(text::cut(&control.label, 200));
    }

    /// Takes that the control was pressed, and which document the page is since.
    pub(super) fn went_on(&mut self, document: String) {
        let label = self.pressing.take().filter(|label| !self.pressed.contains(label));
        self.pressed.extend(label);
        self.document = document;
    }

    pub(super) fn about_to_send(&mut self, control: &NavigationControl, class: ControlEffect) {
        // Only what sends and nothing more is let through by `--submit yes`.
        let yes = if class == ControlEffect::Send { ", or use `--submit yes`" } else { "" };
        self.next = Some(format!("run it again at a terminal and answer yes{yes}"));
        self.sent =
            Some(Submission { label: text::cut(&control.label, 200), ..Submission::default() });
    }

    pub(super) fn sent(&mut self, ok: bool, says: &str) {
        let (says, shot) = text::picture(says);
        self.picture(shot);
        self.next = None;
        let sent = self.sent.get_or_insert_default();
        sent.ok = Some(ok);
        sent.says = text::cut(&says, MAX_WORDS);
    }

    /// Records that a control was not pressed, because its page differs from the approved one.
    pub(super) fn read_anew(&mut self, what: &str) {
        let (what, shot) = text::picture(what);
        self.picture(shot);
        self.sent = None;
        self.pressing = None;
        self.next = None;
        self.changed = Some(text::cut(&what, 300));
        self.again = true;
    }

    pub(super) fn picture(&mut self, shot: Option<String>) {
        if self.shots.len() < MAX_SHOTS {
            self.shots.extend(shot);
        }
    }

    /// Handles an abandoned task. A `held` call never started.
    pub(super) fn give_up(&mut self, why: &Abandoned, held: bool) {
        let (reason, shot) = text::picture(&answer::reason(why));
        self.picture(shot);
        let reason = text::cut(&reason, MAX_WORDS);
        let unbegun = held || matches!(why, Abandoned::Denied { .. });
        if let Some(sent) = self.sent.take_if(|sent| unbegun && sent.ok.is_none()) {
            self.handed_over = alloc::vec![sent.label];
            self.ending = Some(Ending::Denied);
            self.why_handed_over = Some(reason);
            return;
        }
        // The browser refused to touch another site, so it pressed nothing.
        let refuses = |class| matches!(class, FaultClass::Forbidden | FaultClass::Contract);
        let untouched = matches!(why, Abandoned::Failed(fault) if refuses(fault.class));
        if unbegun || untouched {
            self.pressing = None;
        }
        if self.sent.as_ref().is_some_and(|sent| sent.ok.is_none()) {
            self.next = None;
            if untouched {
                self.sent = None;
            }
        }
        self.note(Status::Failed, Some(reason.clone()));
        self.stop(&reason);
    }

    /// Takes that a budget is used up: where the page refused a value, its words say more.
    pub(super) fn used_up(&mut self, budget: &Budget) {
        // The page's words explain a loop that came to its end, and no cost.
        let looped = budget.charge().is_none();
        let said = self.complaint().filter(|_| looped).map(String::from);
        let reason = said.unwrap_or_else(|| answer::used_up(budget).message);
        self.stop(&reason);
    }

    /// Keeps what stopped the run, and where; the first word counts.
    fn stop(&mut self, reason: &str) {
        let field = self.field().map(|field| format!(", field `{}`", text::cut(&field.label, 80)));
        let place = format!("page {}{}", self.page, field.unwrap_or_default());
        self.trouble.get_or_insert_with(|| format!("{place}: {reason}"));
    }
}
