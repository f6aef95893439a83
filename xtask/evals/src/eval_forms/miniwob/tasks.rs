//! Which tasks fill a form and which do not, each by its full name: an unlisted task is neither.

use anyhow::{Result, ensure};

use super::profile::Task;

const BUTTONS: &str = "buttons or links are pressed: there is no field";
const SECTIONS: &str = "sections are opened and a link or button pressed: there is no field";
const DIALOG: &str = "the button of a dialog is pressed: there is no field";
const FIND: &str = "a message must be found in a list first, and opened by a click on it";
const FOCUS: &str = "a field must be focused and nothing written into it";
const ICONS: &str = "icons beside a message are pressed: there is no field";

/// The tasks that fill a form, and how their instruction is read.
pub(super) const FORMS: [(&str, Task); 12] = [
    ("choose-list", Task::Choose),
    ("click-checkboxes", Task::Boxes),
    ("click-checkboxes-large", Task::Boxes),
    ("click-checkboxes-soft", Task::Synonyms),
    ("click-checkboxes-transfer", Task::Boxes),
    ("login-user", Task::Login),
    ("login-user-popup", Task::Login),
    ("multi-layouts", Task::Search),
    ("number-checkboxes", Task::Draw),
    ("use-slider", Task::Slide),
    ("use-slider-2", Task::Slides),
    ("use-spinner", Task::Spin),
];

/// The tasks with a second kind of problem for testing.
pub(super) const WITH_TEST_MODE: [&str; 1] = ["click-checkboxes-transfer"];

/// The others, and why they fill no form.
pub(super) const OTHERS: [(&str, &str); 30] = [
    ("button-delay", "two buttons with a pause between: there is no field"),
    ("click-button-sequence", BUTTONS),
    ("click-collapsible", SECTIONS),
    ("click-collapsible-2", SECTIONS),
    ("click-collapsible-2-nodelay", SECTIONS),
    ("click-collapsible-nodelay", SECTIONS),
    ("click-dialog", DIALOG),
    ("click-dialog-2", DIALOG),
    ("click-link", BUTTONS),
    ("click-test", BUTTONS),
    ("click-test-2", BUTTONS),
    ("click-test-transfer", BUTTONS),
    ("email-inbox", FIND),
    ("email-inbox-delete", FIND),
    ("email-inbox-forward", FIND),
    ("email-inbox-forward-nl", FIND),
    ("email-inbox-forward-nl-turk", FIND),
    ("email-inbox-important", FIND),
    ("email-inbox-nl-turk", FIND),
    ("email-inbox-noscroll", FIND),
    ("email-inbox-reply", FIND),
    ("email-inbox-star-reply", FIND),
    ("focus-text", FOCUS),
    ("focus-text-2", FOCUS),
    ("order-food", "quantities are changed by presses on plus signs: there is no field"),
    ("search-engine", "a result must be looked for page by page, and its link followed"),
    (
        "sign-agreement",
        "a third of its problems only cancels; two thirds enter a name, which is switched off \
         until a text was scrolled to its end, and then agree or cancel: agreeing is the person's",
    ),
    ("social-media", ICONS),
    ("social-media-all", ICONS),
    ("social-media-some", ICONS),
];

/// The tasks of a folder, told apart.
pub(super) struct TaskList<'a> {
    /// Tasks that fill a form, and how to read their instruction.
    pub(super) forms: Vec<(&'a str, Task)>,
    /// The others, and why they fill none.
    pub(super) others: Vec<(&'a str, &'static str)>,
}

/// Tells apart the tasks that fill a form from the others, in the order of their names.
///
/// # Errors
///
/// Where a task is listed as neither.
pub(super) fn sorted(names: &[String]) -> Result<TaskList<'_>> {
    let (mut forms, mut others, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
    for name in names {
        let form = FORMS.iter().find(|(it, _)| it == name);
        let other = OTHERS.iter().find(|(it, _)| it == name);
        match (form, other) {
            (Some((_, task)), _) => forms.push((name.as_str(), *task)),
            (None, Some((_, why))) => others.push((name.as_str(), *why)),
            (None, None) => unknown.push(name.as_str()),
        }
    }
    ensure!(
        unknown.is_empty(),
        "nobody has said of these tasks whether they fill a form: {}; list them in {}",
        unknown.join(", "),
        file!()
    );
    Ok(TaskList { forms, others })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_known_by_its_whole_name() -> Result<()> {
        let names = |names: &[&str]| names.iter().map(|&it| it.to_owned()).collect::<Vec<_>>();
        let known = names(&["click-link", "use-spinner"]);
        let TaskList { forms, others } = sorted(&known)?;
        assert_eq!(forms, [("use-spinner", Task::Spin)]);
        assert_eq!(others, [("click-link", BUTTONS)]);
        for unknown in ["click-shades", "email-inbox-2", "enter-text", "use-slider-3"] {
            let unknown = names(&["click-link", unknown]);
            assert!(sorted(&unknown).is_err(), "{unknown:?}");
        }
        Ok(())
    }

    #[test]
    fn no_task_is_listed_twice() {
        let mut all: Vec<&str> = FORMS.iter().map(|(name, _)| *name).collect();
        all.extend(OTHERS.iter().map(|(name, _)| *name));
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
        assert!(WITH_TEST_MODE.iter().all(|it| FORMS.iter().any(|(name, _)| name == it)));
    }
}
