//! What the browser is asked to do, and what it reports.

use alloc::{boxed::Box, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{field::Field, navigation::NavigationControl};

/// What the browser should do.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FormTask {
    /// Wait until the page has loaded and stopped changing.
    Settle {
        /// The page to open first: only at the start of a run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        url: Option<String>,
    },
    /// List the fields of the form.
    Extract,
    /// Put the value into the field, and leave the field.
    Insert {
        /// The field.
        field: Box<Field>,
        /// Where its value is.
        from: Source,
        /// The site that the agent took the page as. On another one nothing is touched.
        #[serde(default)]
        origin: String,
    },
    /// Look whether the value was kept, and whether the page complains.
    Verify {
        /// The field.
        field: Box<Field>,
        /// Where the value is that should be there.
        from: Source,
        /// The site that the agent took the page as. On another one nothing is touched.
        #[serde(default)]
        origin: String,
    },
    /// List the controls that could lead on.
    Survey,
    /// Press this one.
    Press {
        /// The control.
        control: Box<NavigationControl>,
        /// What the page is known by. Where it has changed, the control was pressed.
        page: String,
        /// The site that the agent took the page as. On another one nothing is touched.
        #[serde(default)]
        origin: String,
    },
}

/// Where the value of a field is.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// In the person's profile.
    Profile {
        /// The profile's absolute path.
        file: String,
        /// A kind's token, such as `email`, or `answers.` and a label.
        key: String,
    },
    /// Here: a model wrote it. With redaction it is `kept:` and a digest.
    Written {
        /// The text.
        text: String,
    },
    /// Nowhere: the field is left as it is.
    #[default]
    Nothing,
}

/// What the browser saw.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FormReport {
    /// The page has stopped changing.
    Settled {
        /// What the page is known by: its address and the fields it shows.
        fingerprint: String,
        /// Scheme, host and port.
        origin: String,
        /// Its name.
        #[serde(default)]
        title: String,
        /// The HTTP status of its document, where the browser knows it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<u16>,
        /// The document of the page, if known: a reloaded one is another.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        document: String,
    },
    /// The fields of the form, in the order of the page.
    Fields(Vec<Field>),
    /// The value was put in, or could not be.
    Inserted {
        /// A digest of what was put in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        digest: Option<String>,
        /// The value, if the journal may contain it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<String>,
        /// Why the value does not fit the field: nothing was put in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unfit: Option<String>,
        /// A remark that is not a complaint, such as the text of a dialog.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// The page has switched the field off since it was read: nothing was put in.
    SwitchedOff {
        /// What there is to say about it, such as the words of a dialog.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// What became of the value.
    Verified {
        /// Whether it is still there after leaving the field.
        kept: bool,
        /// What the page complains of.
        #[serde(default)]
        complaint: Option<String>,
        /// A remark that is not a complaint, such as the text of a dialog.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// The controls that could lead on.
    Controls {
        /// The controls.
        controls: Vec<NavigationControl>,
        /// A picture of the page: an artifact.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shot: Option<String>,
        /// What the page is known by now: fields may have come and gone since it was read.
        #[serde(default)]
        fingerprint: String,
        /// The document of the page, if known: a reloaded one is another.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        document: String,
        /// What there is to say about the page, such as a window that it has opened.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// The page after the control was pressed.
    Moved {
        /// Its identity.
        fingerprint: String,
        /// Scheme, host and port.
        #[serde(default)]
        origin: String,
        /// What it complains of.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        complaint: Option<String>,
        /// A picture of it: an artifact.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shot: Option<String>,
        /// The document of the page, if known: a reloaded one is another.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        document: String,
    },
}
