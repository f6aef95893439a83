//! The call that sends the form, and its result.

use alloc::format;

use pointsman_kernel::agent::{Fault, FaultClass, Settlement, ToolCall};
use serde_json::value::RawValue;

use super::{
    ControlClass, FormData, FormTask, NEW_PAGE, NOT_PRESSED, NavigationControl, SENT, SUBMIT_TOOL,
    answer, text,
};

/// The call that sends the form. It names the control and the page, so that it can be
/// judged, shown to a person, and found done after a crash.
pub(super) fn submit(
    data: &mut FormData,
    control: &NavigationControl,
    class: ControlClass,
) -> Option<ToolCall> {
    data.about_to_send(control, class);
    let mut arguments = serde_json::json!({
        "class": class.token(),
        "label": text::cut(&control.label, 200),
        "origin": data.site(),
        "page": data.fingerprint(),
        "selector": control.selector,
    });
    let target = control.origin.clone().filter(|target| *target != data.site());
    let more = [("target", target), ("changed", data.changed.take())];
    if let Some(arguments) = arguments.as_object_mut() {
        let known = more.into_iter().filter_map(|(name, value)| Some((name.into(), value?.into())));
        arguments.extend(known);
    }
    let arguments = RawValue::from_string(format!("{arguments}")).ok()?;
    Some(ToolCall { id: "submit".into(), tool: SUBMIT_TOOL.into(), arguments })
}

/// A page that has changed since its control was agreed to is read again, and asked about
/// again: a yes is for what was shown.
pub(super) fn anew(data: &mut FormData, fault: Fault) -> Result<Settlement<FormTask>, Fault> {
    let Some(what) = fault.message.strip_prefix(NOT_PRESSED) else { return Err(fault) };
    data.read_anew(what);
    Ok(Settlement::Outcome(NEW_PAGE))
}

pub(super) fn sent(
    data: &mut FormData,
    ok: bool,
    says: &str,
) -> Result<Settlement<FormTask>, Fault> {
    data.sent(ok, says);
    if ok {
        return Ok(Settlement::Outcome(SENT));
    }
    let says = text::cut(says.trim(), 500);
    let message = format!("the page does not seem to have accepted the form: {says}");
    Err(answer::refused(FaultClass::Invalid, message))
}
