//! What the fields beside a field and the purpose of their form say about it.

use alloc::{collections::BTreeMap, vec::Vec};

use super::{
    Aim, FieldDraft,
    votes::{Votes, can_be},
};
use crate::form::{field::FieldShape, kind::FieldKind};

/// Less than this speaks only in the right surroundings.
const WEAK: i32 = 280;

/// Settles what only the whole form can tell.
pub(super) fn settle(
    drafts: &[FieldDraft<'_>],
    votes: &[Votes],
    aims: &BTreeMap<Option<usize>, Option<Aim>>,
    kinds: &mut [FieldKind],
) {
    for (form, aim) in aims {
        let mut group = Group {
            at: (0..drafts.len())
                .filter(|at| drafts.get(*at).is_some_and(|it| it.form == *form))
                .collect(),
            drafts,
            votes,
            aim: *aim,
            kinds,
        };
        group.doubts();
        group.passwords();
        group.account();
        group.names();
        group.streets();
        group.telephone();
        group.telephone_parts();
    }
}

/// The fields of one form.
struct Group<'a, 'b> {
    at: Vec<usize>,
    drafts: &'a [FieldDraft<'b>],
    votes: &'a [Votes],
    aim: Option<Aim>,
    kinds: &'a mut [FieldKind],
}

impl Group<'_, '_> {
    fn kind(&self, at: usize) -> FieldKind {
        self.kinds.get(at).copied().unwrap_or_default()
    }

    fn put(&mut self, at: usize, kind: FieldKind) {
        if let Some(place) = self.kinds.get_mut(at) {
            *place = kind;
        }
    }

    fn shape(&self, at: usize) -> FieldShape {
        self.drafts.get(at).map(|draft| draft.shape).unwrap_or_default()
    }

    fn weight(&self, at: usize, kind: FieldKind) -> i32 {
        self.votes.get(at).map_or(0, |votes| votes.of(kind))
    }

    fn told(&self, at: usize) -> Option<FieldKind> {
        self.votes.get(at).and_then(|votes| votes.told)
    }

    fn is_seen(&self, at: usize) -> bool {
        self.drafts.get(at).is_some_and(|draft| draft.seen_by_people)
    }

    /// Words such as `code` or `id` speak only where codes or accounts are asked for.
    #[expect(clippy::wildcard_enum_match_arm, reason = "of most kinds there is no doubt")]
    fn doubts(&mut self) {
        let about_accounts =
            matches!(self.aim, Some(Aim::LogIn | Aim::SignUp | Aim::Recover | Aim::Change));
        for at in self.at.clone() {
            let kind = self.kind(at);
            let weak = self.weight(at, kind) < WEAK;
            let out_of_place = match kind {
                FieldKind::OneTimeCode => {
                    weak && self.aim != Some(Aim::Code) && self.shape(at) != FieldShape::Codes
                }
                FieldKind::Username => weak && !about_accounts,
                _ => false,
            };
            if out_of_place {
                self.put(at, FieldKind::None);
            }
        }
    }

    /// Tells passwords that exist from passwords that are being made.
    fn passwords(&mut self) {
        let is_one =
            |kind: FieldKind| matches!(kind, FieldKind::NewPassword | FieldKind::CurrentPassword);
        let undecided = |group: &Self, at: usize| {
            let bare = group.shape(at) == FieldShape::Password && group.kind(at) == FieldKind::None;
            bare && group.weight(at, FieldKind::None) == 0
        };
        let all: Vec<usize> = self
            .at
            .iter()
            .copied()
            .filter(|at| is_one(self.kind(*at)) || undecided(self, *at))
            .collect();
        let several = all.iter().filter(|at| self.is_seen(**at)).count() > 1;
        for (nth, at) in all.iter().copied().enumerate() {
            let says_which = self.votes.get(at).is_some_and(|votes| votes.says_which);
            let told = self.told(at).filter(|kind| is_one(*kind));
            // `new-password` is often written on a log-in only to keep browsers away.
            let believed = told.filter(|kind| {
                !(*kind == FieldKind::NewPassword && self.aim == Some(Aim::LogIn) && !several)
            });
            let kind = match (says_which, believed, self.aim) {
                (true, ..) if is_one(self.kind(at)) => self.kind(at),
                (_, Some(kind), _) => kind,
                (_, None, Some(Aim::SignUp | Aim::Recover)) => FieldKind::NewPassword,
                (_, None, Some(Aim::Change)) if nth > 0 => FieldKind::NewPassword,
                (_, None, Some(Aim::Change)) if !several => FieldKind::NewPassword,
                (_, None, Some(Aim::LogIn)) => FieldKind::CurrentPassword,
                (_, None, _) if several && all.len() == 2 => FieldKind::NewPassword,
                (_, None, _) => FieldKind::CurrentPassword,
            };
            self.put(at, kind);
        }
    }

    /// Finds the field that names the account where one signs in: also where it takes a
    /// mail address or a telephone number, it is the account's name.
    fn account(&mut self) {
        if !matches!(self.aim, Some(Aim::LogIn | Aim::Recover)) {
            return;
        }
        let secret =
            |kind: FieldKind| matches!(kind, FieldKind::CurrentPassword | FieldKind::NewPassword);
        let password = self.at.iter().copied().find(|at| secret(self.kind(*at)));
        let is_line = |group: &Self, at: usize| {
            matches!(group.shape(at), FieldShape::Text | FieldShape::Combobox | FieldShape::Number)
        };
        let lines: Vec<usize> = self.at.iter().copied().filter(|at| is_line(self, *at)).collect();
        // A form that signs in without a password asks for little else.
        let shown = lines.iter().filter(|at| self.is_seen(**at)).count();
        let named = |kind: FieldKind| {
            matches!(kind, FieldKind::Email | FieldKind::Tel | FieldKind::TelNational)
        };
        // No one signs in with two mail addresses.
        let mails =
            lines.iter().filter(|at| self.kind(**at) == FieldKind::Email && self.is_seen(**at));
        if (password.is_none() && shown > 2) || mails.count() > 1 {
            return;
        }
        let mut found = false;
        for at in &lines {
            if self.kind(*at) == FieldKind::Username {
                found = true;
            } else if named(self.kind(*at)) && can_name(self.drafts, *at) {
                self.put(*at, FieldKind::Username);
                found = true;
            }
        }
        let Some(password) = password.filter(|_| !found) else { return };
        let could = |kind: FieldKind| {
            matches!(
                kind,
                FieldKind::None
                    | FieldKind::Name
                    | FieldKind::Nickname
                    | FieldKind::GivenName
                    | FieldKind::Organization
            )
        };
        let free = |group: &Self, at: usize| {
            could(group.kind(at)) && group.weight(at, FieldKind::None) < WEAK && group.is_seen(at)
        };
        let before = lines.iter().copied().rfind(|at| *at < password && free(self, *at));
        let first = before.or_else(|| lines.iter().copied().find(|at| free(self, *at)));
        if let Some(at) = first {
            self.put(at, FieldKind::Username);
        }
    }

    /// A `name` beside a family name is the given one, and beside a given name the family's.
    fn names(&mut self) {
        for (nth, at) in self.at.clone().into_iter().enumerate() {
            if self.kind(at) != FieldKind::Name || self.told(at).is_some() || !self.is_seen(at) {
                continue;
            }
            let beside = [nth.checked_sub(1), nth.checked_add(1)].map(|nth| {
                let other = nth.and_then(|nth| self.at.get(nth).copied());
                other.filter(|other| self.is_seen(*other)).map(|other| self.kind(other))
            });
            if beside.contains(&Some(FieldKind::FamilyName))
                && !beside.contains(&Some(FieldKind::GivenName))
            {
                self.put(at, FieldKind::GivenName);
            } else if beside.contains(&Some(FieldKind::GivenName))
                && !beside.contains(&Some(FieldKind::FamilyName))
            {
                self.put(at, FieldKind::FamilyName);
            }
        }
    }

    /// Tells the lines of an address apart.
    fn streets(&mut self) {
        let second = self.at.iter().any(|at| self.kind(*at) == FieldKind::AddressLine2);
        let is_first =
            |kind: FieldKind| matches!(kind, FieldKind::StreetAddress | FieldKind::AddressLine1);
        let mut last: Option<usize> = None;
        for at in self.at.clone() {
            if is_first(self.kind(at)) && self.shape(at) == FieldShape::Text {
                let follows = last.is_some_and(|last| last.saturating_add(1) == at);
                let unnamed = self.drafts.get(at).is_some_and(|draft| {
                    draft.seen.names.associated.is_empty() && draft.seen.names.wrapping.is_empty()
                });
                if follows && unnamed && !second {
                    self.put(at, FieldKind::AddressLine2);
                } else if second && self.kind(at) == FieldKind::StreetAddress {
                    self.put(at, FieldKind::AddressLine1);
                }
            }
            if is_first(self.kind(at)) {
                last = Some(at);
            }
        }
    }

    /// A telephone number in short lines, one after the other: the area code, then the rest. At
    /// least one of them must mention a telephone.
    fn telephone_parts(&mut self) {
        let mut run: Vec<usize> = Vec::new();
        for at in self.at.clone().into_iter().map(Some).chain([None]) {
            if let Some(at) = at.filter(|at| self.is_short_number(*at)) {
                run.push(at);
                continue;
            }
            for part in parts_of_number(&run, |at| self.length(at)) {
                let speaks = part.iter().any(|at| speaks_of_telephone(self.kind(*at)));
                let told = part.iter().any(|at| self.told(*at).is_some());
                if speaks && !told {
                    for (nth, at) in part.iter().enumerate() {
                        self.put(
                            *at,
                            if nth == 0 { FieldKind::TelAreaCode } else { FieldKind::TelLocal },
                        );
                    }
                }
            }
            run.clear();
        }
    }

    /// Returns whether a line takes a few digits of a telephone number, as far as is known.
    fn is_short_number(&self, at: usize) -> bool {
        let open = speaks_of_telephone(self.kind(at)) || self.kind(at) == FieldKind::None;
        let line = matches!(self.shape(at), FieldShape::Text | FieldShape::Number);
        open && line && self.is_seen(at) && self.length(at).is_some_and(|most| most <= 5)
    }

    fn length(&self, at: usize) -> Option<u32> {
        self.drafts.get(at)?.seen.attribute("maxlength").trim().parse().ok()
    }

    /// A telephone number after its own country code is the national one.
    #[expect(clippy::wildcard_enum_match_arm, reason = "most kinds have no telephone")]
    fn telephone(&mut self) {
        let mut code = false;
        for at in self.at.clone() {
            match self.kind(at) {
                FieldKind::TelCountryCode => code = true,
                FieldKind::Tel if code && self.told(at).is_none() => {
                    self.put(at, FieldKind::TelNational);
                    code = false;
                }
                _ => {}
            }
        }
    }
}

fn speaks_of_telephone(kind: FieldKind) -> bool {
    matches!(
        kind,
        FieldKind::Tel | FieldKind::TelNational | FieldKind::TelAreaCode | FieldKind::TelLocal
    )
}

/// Cuts a row of short lines into numbers of three lines, as written in North America; each number
/// ends with its longest line.
fn parts_of_number(run: &[usize], length: impl Fn(usize) -> Option<u32>) -> Vec<[usize; 3]> {
    let mut found = Vec::new();
    let mut rest = run;
    while let Some((part, after)) = rest.split_first_chunk::<3>() {
        let [first, second, third] = part.map(&length);
        if first == second && third >= second && third >= Some(4) && first >= Some(3) {
            found.push(*part);
            rest = after;
        } else {
            rest = rest.split_first().map_or(&[], |(_, rest)| rest);
        }
    }
    found
}

/// Returns whether a field could hold the name of an account.
fn can_name(drafts: &[FieldDraft<'_>], at: usize) -> bool {
    drafts.get(at).is_some_and(|draft| can_be(draft, FieldKind::Username))
}
