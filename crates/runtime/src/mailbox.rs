//! A run's mailbox: what its messages say, and which of them count.

use pointsman_kernel::{
    body::Body,
    event::{Event, Pauser},
    id::{At, EffectId},
};

use crate::store::MailboxMessage;

/// Returns which of an agent's events a message gives, if it gives one.
pub(crate) fn given(message: &MailboxMessage) -> Option<u16> {
    match message.event() {
        Ok(Event::Given { event, .. }) => Some(event),
        _ => None,
    }
}

/// Returns whether a message holds something that a run must listen for.
pub(crate) fn is_word(message: &MailboxMessage) -> bool {
    given(message).is_some()
}

/// Returns the question that a message answers, if it answers one.
pub(crate) fn about(message: &MailboxMessage) -> Option<EffectId> {
    match message.event().ok()? {
        Event::ApprovalAnswered { effect, .. } | Event::Answered { effect, .. } => Some(effect),
        _ => None,
    }
}

/// Returns all messages, the oldest first, each with whether it counts: of several answers to one
/// question only the last does. Whether it was sent in time is for the run to decide.
pub(crate) fn counting(
    messages: &[MailboxMessage],
) -> impl Iterator<Item = (&MailboxMessage, bool)> {
    messages.iter().enumerate().map(|(at, message)| {
        let question = about(message);
        let mut later = messages.iter().skip(at + 1);
        (message, question.is_none() || !later.any(|it| about(it) == question))
    })
}

/// Adds what the mailbox knows of an event: when an answer was sent, and that a pause without an
/// author is a person's.
pub(crate) fn arrived(mut event: Event<Body>, at: At) -> Event<Body> {
    match &mut event {
        Event::Answered { sent, .. } | Event::ApprovalAnswered { sent, .. } => *sent = Some(at),
        Event::Paused { by, .. } => *by = by.or(Some(Pauser::Person)),
        _ => {}
    }
    event
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{MessageId, RunId};

    fn messages(bodies: &[&str]) -> Vec<MailboxMessage> {
        let message = |(at, body): (i64, &&str)| MailboxMessage {
            id: MessageId::new(at),
            run: RunId::from_letters(b"0"),
            body: (*body).into(),
            at_ms: 7,
        };
        (0..).zip(bodies).map(message).collect()
    }

    fn yes(question: u64) -> String {
        let effect = format!(r#"{{"seq":{question},"index":0}}"#);
        format!(r#"{{"answered":{{"effect":{effect},"answer":{{"own":true}}}}}}"#)
    }

    fn no(question: u64) -> String {
        let (effect, call) = (format!(r#"{{"seq":{question},"index":0}}"#), "0".repeat(64));
        let rest = r#""granted":false,"reason":"""#;
        format!(r#"{{"approval_answered":{{"effect":{effect},"call":"{call}",{rest}}}}}"#)
    }

    fn counted(bodies: &[&str]) -> Vec<bool> {
        counting(&messages(bodies)).map(|(_, counts)| counts).collect()
    }

    #[test]
    fn of_several_answers_to_one_question_the_last_counts() {
        let (five, six, not_five) = (yes(5), yes(6), no(5));
        assert_eq!(counted(&[&five]), [true]);
        assert_eq!(counted(&[&five, &six]), [true, true]);
        assert_eq!(counted(&[&five, &not_five]), [false, true]);
        assert_eq!(counted(&[&not_five, &six, &five, &five]), [false, true, false, true]);
        assert_eq!(counted(&[]), [true; 0]);
    }

    #[test]
    fn repeated_messages_other_than_answers_all_count() {
        let (cancel, pause) = (r#"{"cancelled":{"scope":"run"}}"#, r#"{"paused":{"why":"tea"}}"#);
        let five = yes(5);
        // What cannot be read is refused by the run, and not left here.
        assert_eq!(counted(&[cancel, pause, &five, cancel, pause, "?", "?"]), [true; 7]);
    }

    #[test]
    fn message_has_its_time_and_names_a_person_who_paused() {
        let told = |body: &str| {
            let event = messages(&[body]).remove(0).event().expect("it is an event");
            serde_json::to_string(&arrived(event, At(7))).expect("the value serialises")
        };
        for answer in [yes(5), no(5)] {
            assert!(told(&answer).ends_with(r#","sent":7}}"#), "{answer}");
        }
        // A sender cannot say that it was earlier.
        let early = yes(5).replace(r#""answer":"#, r#""sent":1,"answer":"#);
        assert_eq!(told(&early), told(&yes(5)));
        assert_eq!(told(r#"{"paused":{"why":""}}"#), r#"{"paused":{"why":"","by":"person"}}"#);
        let machine = r#"{"paused":{"why":"","by":"machine"}}"#;
        assert_eq!((told(machine), told("\"resumed\"")), (machine.into(), "\"resumed\"".into()));
    }
}
