//! Tests of questions with a simulated clock: (time, key) in, the effect out.
#![expect(clippy::disallowed_methods, reason = "the clock of a test starts at any time")]

use crossterm::event::KeyModifiers;
use pointsman_kernel::id::{At as Time, Digest, EffectId, Seq};
use pointsman_runtime::observe::QuestionKind;
use serde_json::json;

use super::*;

/// Time between two keys of a typing person.
const KEY: Duration = Duration::from_millis(180);

fn asked(asks: QuestionKind) -> Question {
    Question { effect: EffectId { seq: Seq(3), index: 0 }, asks, expires: Time(1) }
}

fn question(tool: &str) -> Question {
    let arguments = json!({ "class": "send", "label": "Apply", "origin": "https://a.test" });
    let call = json!({ "id": "a", "tool": tool, "arguments": arguments });
    let call = serde_json::from_value(call).expect("the value is a tool call");
    asked(QuestionKind::Call { call, identity: Digest::default(), again: false })
}

/// A completely shown dialogue, and its text.
fn shown(mut dialogue: Dialogue) -> (Dialogue, String) {
    let all: Vec<String> = dialogue.rest().iter().map(Line::text).collect();
    (dialogue, all.join("\n"))
}

/// A completely shown question, asked at this time.
fn put(tool: &str, now: Instant) -> Dialogue {
    shown(Dialogue::new(question(tool), Path::new("."), now)).0
}

fn choices(dialogue: &Dialogue, now: Instant) -> String {
    dialogue.choices(now).iter().map(|line| line.text() + "\n").collect()
}

/// A typing person, and the passing time.
struct Typist {
    dialogue: Dialogue,
    now: Instant,
}

impl Typist {
    fn press(&mut self, code: KeyCode) -> DialogueEvent {
        self.now += KEY;
        self.dialogue.key(code.into(), self.now)
    }

    /// Types a line and Enter. No key before that has an effect.
    fn types(&mut self, line: &str) -> DialogueEvent {
        for c in line.chars() {
            let came = self.press(KeyCode::Char(c));
            assert!(matches!(came, DialogueEvent::More), "`{c}` of `{line}`: {came:?}");
        }
        self.press(KeyCode::Enter)
    }

    fn waits(&mut self, time: Duration) {
        self.now += time;
    }
}

/// Numbers that are the same in every run of the tests.
struct Draw(u64);

impl Draw {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) >> 8).expect("the number fits in a usize") % most
    }

    fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }
}

/// Letters, numbers and words that are choices somewhere.
const CHOICES: [&str; 30] = [
    "y", "yes", "n", "no", "a", "always", "s", "say", "l", "later", "m", "more", "w", "whole", "b",
    "back", "r", "run", "e", "every", "1", "2", "Y", "Yes", "No", "YES", "Later", "Always", "q",
    "quit",
];
const OPENINGS: [&str; 16] = [
    "why",
    "please",
    "hello",
    "what",
    "wait",
    "could you",
    "I think",
    "let us",
    "you should",
    "maybe",
    "where",
    "how",
    "do not",
    "the",
    "my",
    "leave",
];
const MIDDLES: [&str; 20] = [
    "want this",
    "look at",
    "the tests",
    "a file",
    "my notes",
    "yes or no",
    "every line",
    "run it",
    "say",
    "later",
    "always",
    "more of",
    "the whole",
    "back to",
    "no longer",
    "only",
    "that",
    "command",
    "with care",
    "again",
];
const ENDS: [&str; 10] = ["?", ".", "!", "", " y", " yes", " no", " please", " later.", " now"];

/// A sentence of two words at least; one in ten begins with a choice.
fn sentence(number: usize, draw: &mut Draw) -> String {
    let first =
        if number.is_multiple_of(10) { draw.of(&CHOICES) } else { draw.of(&OPENINGS) }.to_owned();
    let comma = if draw.below(4) == 0 { "," } else { "" };
    let middles: Vec<&str> = (0..=draw.below(5)).map(|_| draw.of(&MIDDLES)).collect();
    format!("{first}{comma} {}{}", middles.join(" "), draw.of(&ENDS))
}

/// Every possible state of a question, asked at this time.
fn everywhere(now: Instant) -> Vec<(&'static str, Dialogue)> {
    let call = put("write", now);
    let mut pages = call.clone();
    pages.left = vec![Line::of(Ink::Plain, "a row that was not shown")];
    let mut rule = call.clone();
    rule.at = PromptStep::Rule;
    let mut scope = call.clone();
    scope.at = PromptStep::Scope(call.rules[0].clone());
    let plain = Dialogue::new(asked(QuestionKind::Plain("Ship it?".into())), Path::new("."), now);
    let plain = shown(plain).0;
    let mut said = plain.clone();
    said.at = PromptStep::WithWords("with care".into());
    let form = shown(Dialogue::now(question("form.submit"), Path::new("."), None, now)).0;
    vec![
        ("a call", call.clone()),
        ("a call in a conversation", call.in_chat(InputLine::default())),
        ("pages", pages),
        ("rules", rule),
        ("a scope", scope),
        ("a chart's question", plain),
        ("a chart's question with words", said),
        ("a form", form),
    ]
}

#[test]
fn no_sentence_answers_a_question() {
    let (shown, mut draw) = (Instant::now(), Draw(12));
    let places = everywhere(shown);
    for number in 0..10_000 {
        let sentence = sentence(number, &mut draw);
        let (place, dialogue) = &places[number % places.len()];
        // From the moment that the question appears on, until long after.
        let begins = Duration::from_millis(draw.below(4_000).try_into().expect("it fits"));
        let mut typist = Typist { dialogue: dialogue.clone(), now: shown + begins };
        let came = typist.types(&sentence);
        assert!(
            matches!(&came, DialogueEvent::Message(text) if *text == sentence),
            "{place}: {came:?}"
        );
        // The question is still there, and the next sentence answers it no more than this one.
        let came = typist.types(&sentence);
        assert!(
            matches!(&came, DialogueEvent::Message(text) if *text == sentence),
            "{place}: {came:?}"
        );
    }
}

#[test]
fn nothing_that_is_pasted_answers_a_question() {
    let (shown, mut draw) = (Instant::now(), Draw(7));
    let later = shown + Duration::from_secs(10);
    let sentences = (0..10_000).map(|number| sentence(number, &mut draw));
    let choices = CHOICES.iter().map(|choice| (*choice).to_owned());
    let lines = CHOICES.iter().map(|choice| format!("why not\r\n{choice}\r\n{choice}\n"));
    let texts: Vec<String> = sentences.chain(choices).chain(lines).collect();
    for (place, dialogue) in everywhere(shown) {
        for text in &texts {
            let mut typist = Typist { dialogue: dialogue.clone(), now: later };
            typist.dialogue.paste(text, later);
            let came = typist.press(KeyCode::Enter);
            assert!(matches!(came, DialogueEvent::Message(_)), "{place}: `{text}`: {came:?}");
        }
    }
}

#[test]
fn pasted_lines_do_not_answer_after_the_first() {
    // This is how a terminal without bracketed paste pastes.
    for (place, mut dialogue) in everywhere(Instant::now()) {
        let now = Instant::now() + Duration::from_secs(10);
        for key in "why do you\ryes\ry\r1\rr\rno\rlater\r".chars() {
            let code = if key == '\r' { KeyCode::Enter } else { KeyCode::Char(key) };
            let came = dialogue.key(code.into(), now);
            assert!(
                !matches!(came, DialogueEvent::Decided(..) | DialogueEvent::Later),
                "{place}: {came:?}"
            );
        }
    }
}

#[test]
fn no_key_answers_without_enter() {
    let now = Instant::now();
    for (place, dialogue) in everywhere(now) {
        for key in (' '..='~').map(KeyCode::Char).chain([KeyCode::Esc, KeyCode::Tab]) {
            let mut typist = Typist { dialogue: dialogue.clone(), now };
            typist.waits(Duration::from_secs(5));
            let came = typist.press(key);
            assert!(matches!(came, DialogueEvent::More), "{place}: {key:?}: {came:?}");
        }
    }
}

#[test]
fn a_whole_line_answers_when_the_question_was_read() {
    for (line, granted) in [("y", true), ("yes", true), (" Yes ", true), ("Y", true)] {
        let now = Instant::now();
        let mut typist = Typist { dialogue: put("write", now), now };
        typist.waits(Duration::from_secs(2));
        let came = typist.types(line);
        let decided =
            matches!(&came, DialogueEvent::Decided(decision, None) if decision.granted == granted);
        assert!(decided, "{line}: {came:?}");
    }
    let now = Instant::now();
    let mut typist = Typist { dialogue: put("write", now), now };
    typist.waits(Duration::from_secs(2));
    assert!(matches!(typist.types("no"), DialogueEvent::More));
    assert!(choices(&typist.dialogue, typist.now).contains("Reason"));
    let came = typist.types("yes is wrong");
    let denied = matches!(&came, DialogueEvent::Decided(it, None) if !it.granted && it.reason == "yes is wrong");
    assert!(denied, "{came:?}");
}

#[test]
fn a_line_that_was_begun_before_the_question_is_a_message() {
    let now = Instant::now();
    let typed = InputLine::of("ye".into());
    let mut typist = Typist { dialogue: put("write", now).in_chat(typed), now };
    typist.waits(Duration::from_secs(5));
    let came = typist.types("s");
    assert!(matches!(&came, DialogueEvent::Message(text) if text == "yes"), "{came:?}");
    // What follows at once does not count either.
    assert!(matches!(typist.types("yes"), DialogueEvent::Show(_)));
    typist.waits(Duration::from_secs(2));
    assert!(matches!(typist.types("yes"), DialogueEvent::Decided(..)));
}

#[test]
fn answer_given_too_soon_is_asked_again() {
    let now = Instant::now();
    let mut typist = Typist { dialogue: put("write", now), now };
    assert!(choices(&typist.dialogue, now).contains("waiting until you stop typing"));
    let came = typist.types("yes");
    let told = matches!(&came, DialogueEvent::Show(lines) if lines[0].text().contains("type the answer again"));
    assert!(told, "{came:?}");
    typist.waits(Duration::from_secs(2));
    assert!(choices(&typist.dialogue, typist.now).contains("type y or yes, and press Enter"));
    assert!(matches!(typist.types("yes"), DialogueEvent::Decided(..)));
}

#[test]
fn yes_counts_only_when_everything_was_shown() {
    let now = Instant::now();
    let rows = vec![Line::of(Ink::Plain, "a row"); 500];
    for line in ["y", "yes", "a", "always"] {
        let mut dialogue = put("write", now);
        dialogue.left.clone_from(&rows);
        let mut typist = Typist { dialogue, now };
        typist.waits(Duration::from_secs(2));
        let came = typist.types(line);
        let told = matches!(&came, DialogueEvent::Show(lines) if lines[0].text().contains("the whole question"));
        assert!(told, "{line}: {came:?}");
        assert!(
            matches!(typist.types(""), DialogueEvent::Show(rows) if rows.len() > 1),
            "Enter shows more"
        );
        assert!(matches!(typist.types("more"), DialogueEvent::Show(rows) if rows.len() > 1));
        assert!(matches!(typist.types(line), DialogueEvent::Show(rows) if rows.len() == 1));
        assert!(
            matches!(typist.types("whole"), DialogueEvent::Show(_))
                && typist.dialogue.left.is_empty()
        );
        assert!(!matches!(typist.types(line), DialogueEvent::Show(_) | DialogueEvent::Message(_)));
    }
}

#[test]
fn a_key_with_another_held_down_types_nothing() {
    let now = Instant::now() + Duration::from_secs(9);
    for held in [KeyModifiers::CONTROL, KeyModifiers::ALT, KeyModifiers::all()] {
        let mut dialogue = put("write", now.checked_sub(Duration::from_secs(9)).expect("it is"));
        let came = dialogue.key(KeyEvent::new(KeyCode::Char('y'), held), now);
        assert!(matches!(came, DialogueEvent::More) && dialogue.entry.is_empty());
        assert!(matches!(dialogue.key(KeyCode::Enter.into(), now), DialogueEvent::More));
    }
}

#[test]
fn form_question_offers_no_later() {
    let now = Instant::now();
    let mut typist = Typist { dialogue: put("write", now), now };
    typist.waits(Duration::from_secs(2));
    assert!(choices(&typist.dialogue, typist.now).contains("[l]ater"));
    assert!(matches!(typist.types("later"), DialogueEvent::Later));
    let stands = Some("3 fields filled".into());
    let put = Dialogue::now(question("form.submit"), Path::new("."), stands, now);
    let (dialogue, about) = shown(put);
    let told = "at https://a.test\n  press `Apply`\n  3 fields filled";
    assert!(about.ends_with(told), "{about}");
    let mut typist = Typist { dialogue, now };
    typist.waits(Duration::from_secs(2));
    let offered = choices(&typist.dialogue, typist.now);
    assert!(offered.contains("Ctrl-C cancels the run, Ctrl-D answers no"), "{offered}");
    assert!(!offered.contains("[l]ater") && !offered.contains("[a]lways"), "{offered}");
    assert!(matches!(typist.types("later"), DialogueEvent::Message(_)));
    typist.waits(Duration::from_secs(2));
    let came = typist.types("y");
    assert!(
        matches!(came, DialogueEvent::Decided(ApprovalDecision { granted: true, .. }, None)),
        "{came:?}"
    );
}
