//! Permissions: what a person can choose when a run asks, and what their choice means.

use agent_client_protocol::{
    Error, is_connection_terminated, is_incoming_transport_closed,
    v1::schema::{
        PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionResponse,
    },
};
use pointsman_kernel::{
    agent::ToolCall,
    governor::{Grant, Level},
};
use pointsman_runtime::{
    observe::{Question, QuestionKind},
    session::ApprovalDecision,
    tool::Toolbox,
    visible::line,
};

const ALLOW: &str = "allow_once";
/// What the choices begin with that are remembered; the number of the rule follows.
const ALWAYS: &str = "allow_always_";
const REJECT: &str = "reject_once";
const NEVER: &str = "reject_always";

/// Characters of a rule in the name of a choice.
const RULE: usize = 60;

/// Returns the choices. A remembered answer applies to this session's run.
pub(super) fn options(tools: &Toolbox, question: &Question) -> Vec<PermissionOption> {
    let option = |id: &'static str, name: String, kind| PermissionOption::new(id, name, kind);
    let Some(call) = question.call() else {
        return vec![
            option(ALLOW, "Yes".into(), PermissionOptionKind::AllowOnce),
            option(REJECT, "No".into(), PermissionOptionKind::RejectOnce),
        ];
    };
    let mut options = vec![option(ALLOW, "Allow".into(), PermissionOptionKind::AllowOnce)];
    for (at, grant) in tools.grants(call).iter().enumerate() {
        let name = format!("Always allow {} in this session", rule(grant));
        let id = format!("{ALWAYS}{at}");
        options.push(PermissionOption::new(id, name, PermissionOptionKind::AllowAlways));
    }
    options.push(option(REJECT, "Deny".into(), PermissionOptionKind::RejectOnce));
    let name = format!("Always deny {} in this session", rule(&never(call)));
    options.push(option(NEVER, name, PermissionOptionKind::RejectAlways));
    options
}

/// Returns the decision of an answer. An editor that has disconnected decides nothing: the
/// question stays open.
pub(super) fn decision(
    tools: &Toolbox,
    question: &Question,
    answer: Result<RequestPermissionResponse, Error>,
) -> Option<ApprovalDecision> {
    let deny = |reason: String| Some(ApprovalDecision { granted: false, reason, remember: None });
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) if is_incoming_transport_closed(&error) || is_connection_terminated(&error) => {
            return None;
        }
        Err(error) => return deny(format!("the editor could not ask: {}", error.message)),
    };
    let RequestPermissionOutcome::Selected(chosen) = answer.outcome else {
        return deny("the question was dismissed in the editor".into());
    };
    let plain = matches!(question.asks, QuestionKind::Plain(_));
    let reason = |text: &str| if plain { String::new() } else { text.to_owned() };
    let call = question.call();
    match &*chosen.option_id.0 {
        ALLOW => {
            let reason = reason("allowed in the editor");
            Some(ApprovalDecision { granted: true, reason, remember: None })
        }
        REJECT => deny(reason("denied in the editor")),
        NEVER => {
            let reason = reason("denied in the editor, for this session");
            Some(ApprovalDecision { granted: false, reason, remember: call.map(never) })
        }
        other => {
            let at = other.strip_prefix(ALWAYS).and_then(|at| at.parse::<usize>().ok());
            let rule = at.zip(call).and_then(|(at, call)| tools.grants(call).into_iter().nth(at));
            let Some(rule) = rule else {
                let other = line(other, RULE);
                return deny(format!("the editor returned the unknown option `{other}`"));
            };
            let reason = reason("allowed in the editor, for this session");
            Some(ApprovalDecision { granted: true, reason, remember: Some(rule) })
        }
    }
}

/// Returns the rule that denies every call of this tool.
fn never(call: &ToolCall) -> Grant {
    let tool = call.tool.clone();
    Grant { tool, arguments: Vec::new(), level: Level::Refuse, until: None }
}

/// Names a rule for a person.
fn rule(grant: &Grant) -> String {
    let with: Vec<String> =
        grant.arguments.iter().map(|(name, pattern)| format!("{name} {pattern}")).collect();
    let with = if with.is_empty() { String::new() } else { format!(" with {}", with.join(", ")) };
    format!("`{}`", line(&format!("{}{with}", grant.tool), RULE))
}

#[cfg(test)]
mod tests {
    use agent_client_protocol::v1::schema::SelectedPermissionOutcome;
    use pointsman_kernel::id::{At, Digest, EffectId, Seq};
    use serde_json::json;

    use super::*;

    fn question(tool: &str) -> Question {
        let call = json!({ "id": "a", "tool": tool, "arguments": { "path": "a.txt" } });
        let call = serde_json::from_value(call).expect("the value is a tool call");
        Question {
            effect: EffectId { seq: Seq(3), index: 0 },
            asks: QuestionKind::Call { call, identity: Digest::default(), again: false },
            expires: At(1),
        }
    }

    fn chosen(question: &Question, option: &'static str) -> ApprovalDecision {
        let selected = SelectedPermissionOutcome::new(option);
        let answer = RequestPermissionResponse::new(RequestPermissionOutcome::Selected(selected));
        decision(&Toolbox::default(), question, Ok(answer))
            .expect("the option decides the question")
    }

    #[test]
    fn each_choice_means_what_it_says() {
        let question = question("write");
        let kinds: Vec<_> =
            options(&Toolbox::default(), &question).iter().map(|it| it.kind).collect();
        assert_eq!(
            kinds,
            [
                PermissionOptionKind::AllowOnce,
                PermissionOptionKind::AllowAlways,
                PermissionOptionKind::AllowAlways,
                PermissionOptionKind::RejectOnce,
                PermissionOptionKind::RejectAlways
            ]
        );
        assert!(chosen(&question, ALLOW).granted && chosen(&question, ALLOW).remember.is_none());
        let always =
            chosen(&question, "allow_always_0").remember.expect("the decision keeps a rule");
        assert_eq!(always.arguments, [("path".to_owned(), "a.txt".to_owned())]);
        assert_eq!(always.level, Level::Allow);
        let tool = chosen(&question, "allow_always_1").remember.expect("the decision keeps a rule");
        assert!(tool.arguments.is_empty());
        assert!(!chosen(&question, "allow_always_2").granted);
        let never = chosen(&question, NEVER);
        assert!(!never.granted);
        assert_eq!(never.remember.map(|grant| grant.level), Some(Level::Refuse));
        assert!(!chosen(&question, REJECT).granted);
        assert!(!chosen(&question, "made up").granted);
    }

    #[test]
    fn dismissed_or_unknown_option_is_denied() {
        let question = question("write");
        let dismissed = RequestPermissionResponse::new(RequestPermissionOutcome::Cancelled);
        assert!(
            !decision(&Toolbox::default(), &question, Ok(dismissed))
                .expect("the option decides the question")
                .granted
        );
        let broken = decision(&Toolbox::default(), &question, Err(Error::method_not_found()))
            .expect("the option decides the question");
        assert!(!broken.granted && broken.reason.starts_with("the editor could not ask"));
    }
}
