//! Templates: `{slot}` is filled, `{{` and `}}` are braces, everything else is text.
//!
//! `check` and the agent that fills a template both read it here, so that they agree on
//! what names a slot.

/// A part of a template.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TemplatePart<'t> {
    /// Text that stays as it is.
    Text(&'t str),
    /// A place to fill.
    Slot {
        /// The slot's name.
        name: &'t str,
        /// The place as it is written, for a slot that is not filled.
        written: &'t str,
    },
}

/// Returns the parts of a template, in order.
pub const fn parts(template: &str) -> TemplateParts<'_> {
    TemplateParts(template)
}

/// Returns the names of the slots that a template reads, in order.
pub fn slots(template: &str) -> impl Iterator<Item = &str> {
    parts(template).filter_map(|part| match part {
        TemplatePart::Slot { name, .. } => Some(name),
        TemplatePart::Text(_) => None,
    })
}

/// Returns whether a text can name a slot: letters, digits, `_`, `-` and `.`.
pub fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

/// The parts of a template.
#[derive(Clone, Debug)]
pub struct TemplateParts<'t>(&'t str);

impl<'t> Iterator for TemplateParts<'t> {
    type Item = TemplatePart<'t>;

    fn next(&mut self) -> Option<TemplatePart<'t>> {
        let rest = self.0;
        let brace = rest.find(['{', '}']).unwrap_or(rest.len());
        if brace > 0 || rest.is_empty() {
            let (text, after) = rest.split_at_checked(brace)?;
            self.0 = after;
            return (!text.is_empty()).then_some(TemplatePart::Text(text));
        }
        let (text, after) = rest.split_at_checked(1)?;
        if let Some(after) = after.strip_prefix(text) {
            self.0 = after;
            return Some(TemplatePart::Text(text));
        }
        let inside = if text == "{" { after.split_once('}') } else { None };
        if let Some((name, beyond)) = inside.filter(|(name, _)| is_name(name.trim())) {
            self.0 = beyond;
            let length = rest.len().saturating_sub(beyond.len());
            let written = rest.get(..length).unwrap_or(rest);
            return Some(TemplatePart::Slot { name: name.trim(), written });
        }
        self.0 = after;
        Some(TemplatePart::Text(text))
    }
}
