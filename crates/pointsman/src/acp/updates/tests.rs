//! Tests of an editor's updates, notice by notice.

use std::path::Path;

use pointsman_kernel::{
    agent::{Answer, OrderKind, Reply},
    body::Body,
    event::Usage,
    governor::{Rule, Verdict},
    id::{At, Digest, Seq},
};
use pointsman_runtime::timeline::TimelineItem;
use serde_json::json;

use super::{super::AcpLimits, *};

const REPLY: EffectId = EffectId { seq: Seq(2), index: 0 };
const AGAIN: EffectId = EffectId { seq: Seq(4), index: 0 };
const CALL: EffectId = EffectId { seq: Seq(6), index: 0 };

fn teller() -> UpdateBuilder {
    UpdateBuilder::new(CallDisplay::past(Path::new("/folder"), &AcpLimits::default()))
}

fn call() -> ToolCall {
    let call = json!({ "id": "a", "tool": "read", "arguments": { "path": "a.txt" } });
    serde_json::from_value(call).expect("the value is a tool call")
}

fn said(effect: EffectId, text: &str) -> Notice {
    LiveNotice::Delta { effect, text: text.into() }.into()
}

fn item(kind: TimelineKind) -> Notice {
    TimelineItem { seq: Seq(1), index: 0, at: At(0), kind }.into()
}

fn answer(effect: EffectId, ok: bool, what: &str, answer: Answer<Body>) -> Notice {
    item(TimelineKind::Answered {
        effect,
        did: Box::default(),
        ok,
        what: what.into(),
        aside: false,
        call: None,
        answer: Box::new(answer),
        usage: Usage::default(),
    })
}

fn answered(effect: EffectId, ok: bool, output: &str) -> Notice {
    let reply = Reply { text: output.into(), calls: Vec::new() };
    answer(effect, ok, "", Answer::Model(reply))
}

fn attempted(effect: EffectId, call: Option<ToolCall>) -> Notice {
    let by = if call.is_some() { OrderKind::Tool } else { OrderKind::Model };
    item(TimelineKind::Started {
        effect,
        attempt: 1,
        by,
        what: Box::default(),
        call: call.map(Box::new),
        again: false,
        only_checked: false,
    })
}

fn listens(kind: TurnErrorKind) -> Notice {
    item(TimelineKind::Listens { error: Some(TurnError { kind, message: "because".into() }) })
}

/// Sends these notices and returns the updates, a line each.
fn told(teller: &mut UpdateBuilder, notices: &[Notice]) -> Vec<String> {
    let updates = notices.iter().flat_map(|notice| teller.tell(notice));
    let line = |update: SessionUpdate| {
        let update = serde_json::to_value(&update).expect("the value serialises");
        let kind = update["sessionUpdate"].as_str().expect("it has a kind");
        match kind {
            // The usual status is left out.
            "tool_call" | "tool_call_update" => {
                format!("{kind} {}", update["status"].as_str().unwrap_or("pending"))
            }
            _ => format!("{kind} {}", update["content"]["text"]),
        }
    };
    updates.map(line).collect()
}

#[test]
fn unstreamed_text_is_sent_at_the_end() {
    let notices = [said(REPLY, "one "), answered(REPLY, true, "one two")];
    let told = told(&mut teller(), &notices);
    assert_eq!(told, [r#"agent_message_chunk "one ""#, r#"agent_message_chunk "two""#]);
}

#[test]
fn nothing_is_reported_twice() {
    let notices = [
        said(REPLY, "one"),
        answered(REPLY, true, "one"),
        item(TimelineKind::Listens { error: None }),
    ];
    assert_eq!(told(&mut teller(), &notices), [r#"agent_message_chunk "one""#]);
}

#[test]
fn a_reply_that_is_cut_off_is_marked_once_the_next_begins() {
    let notices = [
        said(REPLY, "half a"),
        answered(REPLY, false, "the line went dead"),
        LiveNotice::Discard(REPLY).into(),
        item(TimelineKind::Retrying { attempt: 2, wait_ms: 1001 }),
        attempted(AGAIN, None),
        said(AGAIN, "whole"),
    ];
    assert_eq!(
        told(&mut teller(), &notices),
        [
            r#"agent_message_chunk "half a""#.to_owned(),
            format!("agent_message_chunk {}", json!(CUT_OFF)),
            r#"agent_thought_chunk "Retrying in 2 s (attempt 2).\n""#.to_owned(),
            r#"agent_message_chunk "whole""#.to_owned(),
        ]
    );
}

#[test]
fn consecutive_replies_are_separated() {
    let notices = [said(REPLY, "one"), said(AGAIN, "two")];
    let told = told(&mut teller(), &notices);
    assert_eq!(told, [r#"agent_message_chunk "one""#, r#"agent_message_chunk "\n\ntwo""#]);
}

#[test]
fn a_call_that_was_stopped_has_failed() {
    let notices = [attempted(CALL, Some(call())), item(TimelineKind::Stopped { effect: CALL })];
    let told = told(&mut teller(), &notices);
    assert_eq!(told, ["tool_call in_progress", "tool_call_update failed"]);
}

#[test]
fn tool_output_belongs_to_its_call() {
    let notices =
        [attempted(CALL, Some(call())), said(CALL, "line one"), answered(CALL, true, "line one")];
    assert_eq!(
        told(&mut teller(), &notices),
        ["tool_call in_progress", "tool_call_update in_progress", "tool_call_update completed"]
    );
}

#[test]
fn finished_turn_leaves_nothing_in_progress() {
    let asks = QuestionKind::Call { call: call(), identity: Digest::default(), again: false };
    let asked = item(TimelineKind::Asked(Question { effect: REPLY, asks, expires: At(9) }));
    let under_way = [attempted(CALL, Some(call())), asked, listens(TurnErrorKind::Cancelled)];
    assert_eq!(
        told(&mut teller(), &under_way),
        [
            "tool_call in_progress",
            "tool_call pending",
            "tool_call_update failed",
            "tool_call_update failed"
        ]
    );
}

#[test]
fn missing_answer_is_explained_unless_cancelled() {
    let notices = [said(REPLY, "half"), listens(TurnErrorKind::Stuck)];
    assert_eq!(
        told(&mut teller(), &notices),
        [r#"agent_message_chunk "half""#, r#"agent_message_chunk "\n\n**No answer:** because""#]
    );
}

#[test]
fn a_question_of_the_chart_is_over_when_it_is_answered() {
    let mut teller = teller();
    let question =
        Question { effect: CALL, asks: QuestionKind::Plain("Ship it?".into()), expires: At(9) };
    let shown = told(&mut teller, &[LiveNotice::Ask(question.clone()).into()]);
    assert_eq!(shown, ["tool_call pending"]);
    assert_eq!(teller.question(&question).fields.title.as_deref(), Some("Ship it?"));
    assert!(teller.decided(CALL, true, "").is_some());
    assert!(teller.decided(CALL, true, "").is_none(), "it is over");
}

#[test]
fn governor_notes_appear_next_to_the_answer() {
    let verdict = |level| Verdict {
        level,
        rule: Rule::NothingNew,
        reason: "seen before".into(),
        advice: "look elsewhere".into(),
        evidence: Vec::new(),
    };
    let notices = [Level::Warn, Level::Ask].map(|it| item(TimelineKind::Verdict(verdict(it))));
    let told = told(&mut teller(), &notices);
    assert_eq!(told, [r#"agent_thought_chunk "Governor: seen before (look elsewhere)\n""#]);
}

#[test]
fn commits_are_shown_and_summaries_are_not() {
    let report = || Body::of(&"a report").expect("it is plain data");
    let answered = |ok: bool, what: &str| answer(CALL, ok, what, Answer::Own(report()));
    let mut teller = teller();
    let updates = teller.tell(&answered(true, "committed 1 file as 1234567: Count to two"));
    let update = serde_json::to_value(&updates).expect("the value serialises");
    assert_eq!(update[0]["sessionUpdate"], "tool_call");
    assert_eq!(update[0]["title"], "committed 1 file as 1234567: Count to two");
    assert_eq!(update[0]["status"], "completed");
    let failed = [answered(false, "the commit failed: locked")];
    assert_eq!(told(&mut teller, &failed), ["tool_call failed"]);
    let nothing = [answered(true, ""), answered(true, SUMMARISED)];
    assert!(told(&mut teller, &nothing).is_empty());
}
