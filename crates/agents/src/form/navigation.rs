//! Which control leads on, and which are the person's to press.

mod words;

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{
    field::{Choice, Field},
    plan::SkipReason,
    text,
};

/// What a person may do where a form leads elsewhere.
pub(super) const ELSEWHERE: &str = "add the site to `sites` in the settings, or use `--visible`";
/// What they may do where it is not clear what to press.
const LOOK: &str = "use `--visible`, and press the right one yourself";

/// A control that could lead on from a page.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct NavigationControl {
    /// Where it is: CSS, with ` >>> ` where a shadow root or a frame lies between.
    pub selector: String,
    /// The text on it.
    pub label: String,
    /// Its kind.
    pub does: ControlRole,
    /// Where it leads, if that is known: scheme, host and port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Whether it cannot be pressed now.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub disabled: bool,
    /// `id`, `name` and every `data-*`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, String>,
    /// Whether words or prices beside it say that pressing it costs something.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub costs: bool,
}

/// What a control is.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlRole {
    /// It submits its form.
    Submit,
    /// A button with a script behind it.
    #[default]
    Button,
    /// A link.
    Link,
}

/// What a control does to the form, by its text.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ControlEffect {
    /// It leads to the next page of the form.
    Onward,
    /// It sends the form.
    Send,
    /// It pays or orders.
    Pay,
    /// It signs or agrees.
    Sign,
    /// It deletes, or gives up what was filled.
    Delete,
    /// It does something beside the form: it leads back, saves a draft, opens help.
    Aside,
    /// Unknown.
    Unknown,
}

impl ControlEffect {
    /// Returns the word that rules and reports have for it.
    pub const fn token(self) -> &'static str {
        match self {
            Self::Onward => "onward",
            Self::Send => "send",
            Self::Pay => "pay",
            Self::Sign => "sign",
            Self::Delete => "delete",
            Self::Aside => "aside",
            Self::Unknown => "unknown",
        }
    }
}

impl NavigationControl {
    /// Returns what it does to the form, by its text and the text beside it.
    pub fn class(&self) -> ControlEffect {
        let class = words::class(&self.label);
        // What says nothing and is not made for sending is not taken for the way to pay.
        let sends = matches!(class, ControlEffect::Onward | ControlEffect::Send)
            || (class == ControlEffect::Unknown && self.does == ControlRole::Submit);
        if sends && self.costs { ControlEffect::Pay } else { class }
    }
}

/// What to do with the controls of a page.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum NextStep<'a> {
    /// Press this one: it leads to the next page.
    Press(&'a NavigationControl),
    /// Send the form by this one, if that is permitted.
    Submit(&'a NavigationControl, ControlEffect),
    /// There is nothing to press.
    Nothing,
    /// A person must look, for this reason; this is what they may do next.
    Persons(String, String),
}

/// A field that the form wants, and that is left to the person.
#[derive(Clone, Copy, Debug)]
pub(super) struct MissingField<'a> {
    pub(super) label: &'a str,
    pub(super) why: SkipReason,
}

impl MissingField<'_> {
    fn way(self) -> NextStep<'static> {
        let label = text::line(self.label, 80);
        let next = match self.why {
            SkipReason::SwitchedOff => {
                let why = format!("the page disabled `{label}` before it could be filled");
                return NextStep::Persons(why, "use `--visible` to see why".into());
            }
            SkipReason::Captcha => "use `--visible`, and solve it yourself".into(),
            SkipReason::NeverFilled => {
                format!(
                    "give the profile a value for `{label}` and list its class in `allow`, or use `--visible`"
                )
            }
            SkipReason::Unsupported | SkipReason::TooMany => {
                "use `--visible`, and fill it yourself".into()
            }
            SkipReason::NotInProfile
            | SkipReason::Private
            | SkipReason::Consent
            | SkipReason::HoldsValue
            | SkipReason::Disabled
            | SkipReason::Hidden
            | SkipReason::NoText => {
                format!("add an answer for `{label}` to the profile, or use `--visible`")
            }
        };
        NextStep::Persons(format!("only you can fill `{label}`, which is required"), next)
    }
}

/// Chooses the one control that is safe to press: no required field is empty, exactly one control
/// leads on, and it stays on permitted sites. If none leads on, the control that sends the form
/// needs approval.
pub(super) fn choose<'a>(
    controls: &[&'a NavigationControl],
    permitted: &dyn Fn(&str) -> bool,
    misses: Option<MissingField<'_>>,
) -> NextStep<'a> {
    let usable: Vec<ClassedControl<'a>> = controls
        .iter()
        .copied()
        .filter(|control| !control.disabled)
        .map(|control| (control, control.class()))
        .collect();
    let look = |why: String| NextStep::Persons(why, LOOK.into());
    if let Some(missing) = misses {
        return missing.way();
    }
    if controls.is_empty() {
        return NextStep::Nothing;
    }
    let (control, class) = match pick(&usable, |it| it.1 == ControlEffect::Onward) {
        Pick::One(found) => found,
        Pick::Many(count) => return look(format!("{count} controls could lead to the next page")),
        Pick::None => match last(&usable) {
            Ok(Some(found)) => found,
            Ok(None) if usable.is_empty() => {
                return look("no control can be pressed yet".into());
            }
            Ok(None) => {
                return look("no control clearly leads to the next page or sends the form".into());
            }
            Err(why) => return look(why),
        },
    };
    match control.origin.as_deref() {
        Some(origin) if !permitted(origin) => {
            let why = format!("`{}` leads to another site, `{origin}`", label(control));
            NextStep::Persons(why, ELSEWHERE.into())
        }
        _ if class == ControlEffect::Onward => NextStep::Press(control),
        _ => NextStep::Submit(control, class),
    }
}

/// A control, and what it does to the form.
type ClassedControl<'a> = (&'a NavigationControl, ControlEffect);

/// Returns the control that sends the form: the only one that says so, else the only one
/// that is made to.
fn last<'a>(usable: &[ClassedControl<'a>]) -> Result<Option<ClassedControl<'a>>, String> {
    let says = |it: &ClassedControl<'_>| {
        matches!(it.1, ControlEffect::Send | ControlEffect::Pay | ControlEffect::Sign)
    };
    let made = |it: &ClassedControl<'_>| {
        it.0.does == ControlRole::Submit && it.1 == ControlEffect::Unknown
    };
    // A link that says `sign up` leads to another form more often than it sends this one.
    let found = match pick(usable, |it| says(it) && it.0.does != ControlRole::Link) {
        Pick::None => pick(usable, made),
        found @ (Pick::One(_) | Pick::Many(_)) => found,
    };
    match found {
        Pick::One((control, class)) => {
            let class = if class == ControlEffect::Unknown { ControlEffect::Send } else { class };
            Ok(Some((control, class)))
        }
        Pick::Many(_) => match pick(usable, |it| says(it) && it.0.does == ControlRole::Submit) {
            Pick::One(found) => Ok(Some(found)),
            Pick::Many(count) => Err(format!("{count} controls would send something")),
            Pick::None => Err("several controls would send something".into()),
        },
        Pick::None => match usable.iter().find(|it| it.1 == ControlEffect::Delete) {
            Some((control, _)) => {
                Err(format!("`{}` would undo or delete something", label(control)))
            }
            None => Ok(None),
        },
    }
}

enum Pick<'a> {
    None,
    One(ClassedControl<'a>),
    Many(usize),
}

fn pick<'a>(
    usable: &[ClassedControl<'a>],
    wanted: impl Fn(&ClassedControl<'a>) -> bool,
) -> Pick<'a> {
    let mut found = usable.iter().filter(|it| wanted(it));
    let Some(first) = found.next() else { return Pick::None };
    // The same control may be shown twice, at the head and at the foot of a form.
    let others = found.filter(|it| it.0.selector != first.0.selector).count();
    if others == 0 { Pick::One(*first) } else { Pick::Many(others.saturating_add(1)) }
}

fn label(control: &NavigationControl) -> String {
    text::line(&control.label, 80)
}

/// Returns whether a field agrees to something, by its label or by a choice that it offers.
pub(super) fn agrees(field: &Field) -> bool {
    let chosen = |option: &Choice| words::choice_agrees(&option.label);
    words::agrees(&field.label) || field.options.iter().any(chosen)
}

/// Returns whether pressing a control costs something, by the words beside it or by those of
/// its whole form.
pub(super) fn costs(near: &str, form: &str) -> bool {
    words::costs(near) || words::form_costs(form)
}

/// Returns whether a control only closes a dialog, by its text.
pub(super) fn closes(label: &str) -> bool {
    words::closes(label)
}

/// Returns whether an origin is that of an address. A site that answers with TLS where
/// it was named without, or with `www.`, is the same.
pub(super) fn same_site(address: &str, origin: &str) -> bool {
    let (left, right) = (PageSite::of(address), PageSite::of(origin));
    match (left, right) {
        (Some(left), Some(right)) => {
            let upgraded = left.scheme == "http" && right.scheme == "https";
            let scheme = left.scheme == right.scheme || upgraded;
            let ports = left.port == right.port || (upgraded && left.default() && right.default());
            scheme && ports && left.host.eq_ignore_ascii_case(right.host)
        }
        // A file has no origin.
        (None, None) => true,
        (None, Some(_)) | (Some(_), None) => false,
    }
}

struct PageSite<'a> {
    scheme: &'a str,
    host: &'a str,
    port: &'a str,
}

impl<'a> PageSite<'a> {
    fn of(address: &'a str) -> Option<Self> {
        let (scheme, rest) = address.trim().split_once("://")?;
        let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
        let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let split = authority.rsplit_once(':').filter(|(host, port)| {
            // The colons of a bare IPv6 address are not a port's.
            port.chars().all(|c| c.is_ascii_digit()) && (!host.contains(':') || host.ends_with(']'))
        });
        let (host, port) = split.unwrap_or((authority, ""));
        let port = match (scheme, port) {
            ("http", "") => "80",
            ("https", "") => "443",
            (_, port) => port,
        };
        let host = host.strip_prefix("www.").unwrap_or(host);
        (!host.is_empty()).then_some(Self { scheme, host, port })
    }

    fn default(&self) -> bool {
        matches!((self.scheme, self.port), ("http", "80") | ("https", "443"))
    }
}
