//! Spellings: canonical JSON, digests, and lines of a journal that were damaged.

use pointsman_kernel::{
    chart::{Chart, Disposition},
    id::Digest,
    journal::{Entry, LineError, body},
    json::canonical_body,
    replay::{Divergence, replay},
    run::Run,
};
use proptest::prelude::*;
use serde_json::value::RawValue;

use crate::{
    scripted::{ScriptedRun, chart},
    scripted_agent::ScriptedAgent,
};

#[derive(serde::Serialize)]
struct Unsorted {
    z: u8,
    a: &'static str,
}

#[test]
fn a_value_has_one_spelling() {
    let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
    for (written, canonical) in [
        (r#" { "b" : 1 , "a" : [ 1 , 2.5, -3e2 ] } "#, r#"{"a":[1,2.5,-300.0],"b":1}"#),
        (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
        (r#""\u0041\/\n""#, r#""A/\n""#),
        (r#"{"":{"é":null,"z":true}}"#, r#"{"":{"z":true,"é":null}}"#),
        ("[]", "[]"),
    ] {
        let spelt = canonical_body(&raw(written)).unwrap();
        assert_eq!(spelt.get(), canonical);
        assert_eq!(canonical_body(&spelt).unwrap().get(), canonical);
    }
    assert_eq!(body(&Unsorted { z: 1, a: "b" }).unwrap().get(), r#"{"a":"b","z":1}"#);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_digest_survives_being_written(bytes in any::<[u8; 32]>()) {
        let digest = Digest(bytes);
        let text = digest.to_string();
        prop_assert!(text.len() == 64 && text.bytes().all(|byte| b"0123456789abcdef".contains(&byte)));
        let quoted = serde_json::to_string(&digest).unwrap();
        prop_assert_eq!(&quoted, &format!("\"{text}\""));
        prop_assert_eq!(serde_json::from_str::<Digest>(&quoted).unwrap(), digest);
    }
}

#[test]
fn a_digest_has_one_spelling() {
    let right = "a".repeat(64);
    for wrong in ["A".repeat(64), "a".repeat(63), "a".repeat(65), "g".repeat(64), String::new()] {
        assert!(serde_json::from_str::<Digest>(&format!("\"{wrong}\"")).is_err(), "{wrong}");
    }
    assert_eq!(serde_json::from_str::<Digest>(&format!("\"{right}\"")).unwrap().to_string(), right);
    let nothing = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";
    assert_eq!(Digest::of(b"").to_string(), nothing);
}

/// A chart and a small journal of it, with the digest of the last line.
fn journal() -> (Chart, Vec<String>, Digest) {
    let chart = chart(
        r#"
        [budget]
        rounds = { max = 2, else = "bad" }
        [state.work]
        run = "run2"
        timeout = "100ms"
        attempts = 2
        on.a = "end"
        on.b = { to = "work", spend = "rounds" }
        on.failed = "bad"
        "#,
    );
    let mut scripted = ScriptedRun::new(&chart);
    for line in ["begin", "+5 answer 1.0 b", "+5 pause", "+5 answer 2.0 fault", "+9 resume"] {
        scripted.play(line);
    }
    let lines = scripted.lines;
    let last = Digest::of(lines.last().unwrap().as_bytes());
    (chart, lines, last)
}

fn read(chart: &Chart, lines: &[String]) -> Result<(Run<ScriptedAgent>, Digest), Divergence> {
    replay::<ScriptedAgent>(chart, lines.iter().map(String::as_str))
}

#[test]
fn untouched_journal_is_read_back() {
    let (chart, lines, last) = journal();
    assert_eq!(lines.len(), 5);
    assert_eq!(read(&chart, &lines).unwrap().1, last);
    for line in &lines {
        assert_eq!(Entry::read(line).unwrap().line(), *line);
    }
}

#[test]
fn every_changed_byte_is_found_at_its_entry_or_at_the_next() {
    let (chart, lines, last) = journal();
    for at in 0..lines.len() {
        for byte in 0..lines[at].len() {
            for flip in [1_u8, 2, 4, 16, 32] {
                let mut bytes = lines[at].clone().into_bytes();
                bytes[byte] ^= flip;
                // A store that keeps text finds the other kind by itself.
                let Ok(line) = String::from_utf8(bytes) else { continue };
                let mut damaged = lines.clone();
                damaged[at] = line;
                match read(&chart, &damaged) {
                    Err(divergence) => {
                        let found = usize::try_from(divergence.seq().0).unwrap();
                        assert!(found == at + 1 || found == at + 2, "{at} {byte}: {divergence}");
                    }
                    // Nothing follows the last line; its own digest is what tells.
                    Ok((_, digest)) => assert!(at + 1 == lines.len() && digest != last),
                }
            }
        }
    }
}

#[test]
fn every_line_that_was_cut_short_is_found() {
    let (chart, lines, last) = journal();
    for at in 0..lines.len() {
        for length in 0..lines[at].len() {
            let mut damaged = lines[..=at].to_vec();
            damaged[at].truncate(length);
            let divergence = read(&chart, &damaged).err().unwrap();
            assert_eq!(divergence.seq().0, at as u64 + 1);
            assert!(matches!(divergence, Divergence::Damaged { .. }), "{divergence}");
        }
        // Without its last lines a journal is whole, and shorter: its digest tells.
        assert_ne!(read(&chart, &lines[..at]).unwrap().1, last);
    }
}

#[test]
fn lines_that_are_missing_twice_or_out_of_order_are_found() {
    let (chart, lines, _) = journal();
    for at in 0..lines.len() - 1 {
        let mut missing = lines.clone();
        missing.remove(at);
        let mut twice = lines.clone();
        twice.insert(at, lines[at].clone());
        let mut swapped = lines.clone();
        swapped.swap(at, at + 1);
        for (damaged, first) in [(missing, at), (twice, at + 1), (swapped, at)] {
            let divergence = read(&chart, &damaged).err().unwrap();
            assert_eq!(divergence.seq().0, first as u64 + 1, "{divergence}");
            assert!(matches!(divergence, Divergence::Gap { .. }), "{divergence}");
        }
    }
}

#[test]
fn a_line_of_a_later_format_is_refused_by_its_number() {
    let (_, lines, _) = journal();
    let later = lines[1].replacen("{\"v\":1,", "{\"v\":3,", 1);
    assert_eq!(Entry::read(&later).unwrap_err(), LineError::TooNew { found: 3 });
    let other = r#"{"v":7,"something":"else"}"#;
    assert_eq!(Entry::read(other).unwrap_err(), LineError::TooNew { found: 7 });
    for damaged in ["", "{}", "nonsense", r#"{"v":1,"something":"else"}"#, r#"{"v":-1}"#] {
        assert!(matches!(Entry::read(damaged), Err(LineError::NotAnEntry(_))), "{damaged}");
    }
}

#[test]
fn line_has_the_oldest_possible_format() {
    let chart = chart(
        r#"
        [state.work]
        run = "call"
        timeout = "100ms"
        tools = "all"
        on.a = "end"
        on.b = "end"
        on.failed = "bad"
        on.stuck = "bad"
        on.denied = "bad"
        "#,
    );
    let mut scripted = ScriptedRun::new(&chart);
    let script = [
        ("begin may=ask", 1),
        ("pause", 1),
        ("pause machine", 2),
        ("lift machine", 2),
        ("pause person", 2),
        ("resume", 1),
        ("grant 1.0 sent=5", 2),
        ("answer 7.0 a", 1),
    ];
    for (line, _) in script {
        scripted.play(line);
    }
    assert_eq!(scripted.lines.len(), script.len(), "all were taken");
    for (line, (said, format)) in scripted.lines.iter().zip(script) {
        let read = Entry::read(line).unwrap();
        assert_eq!(read.v, format, "{said}");
    }
    for (new, old) in [
        (2, r#""event":{"paused":{"why":"tea","by":"machine"}},"#),
        (3, r#""event":{"lifted":{"by":"machine"}},"#),
        (6, r#","sent":5}},"#),
    ] {
        assert!(scripted.lines[new].contains(old), "{}", scripted.lines[new]);
    }
    scripted.replays();
    // A build that knows no later format would have written another line.
    for (at, wrong) in [(3, ("{\"v\":2,", "{\"v\":1,")), (1, ("{\"v\":1,", "{\"v\":2,"))] {
        let mut lines = scripted.lines.clone();
        lines[at] = lines[at].replacen(wrong.0, wrong.1, 1);
        let divergence = read(&chart, &lines).err().unwrap();
        assert_eq!(divergence.seq().0, at as u64 + 1);
        let other =
            matches!(divergence, Divergence::Damaged { source: LineError::OtherFormat { .. }, .. });
        assert!(other, "{divergence}");
    }
}

#[test]
fn a_journal_of_another_chart_is_refused_at_its_first_entry() {
    let (_, lines, _) = journal();
    let other = chart(
        r#"
        [state.work]
        run = "run1"
        timeout = "100ms"
        on.a = "end"
        on.failed = "bad"
        "#,
    );
    let divergence = read(&other, &lines).err().unwrap();
    assert_eq!(divergence.seq().0, 1);
    assert!(matches!(divergence, Divergence::Rejected { .. }), "{divergence}");
}

#[test]
fn a_forged_line_is_found_though_its_chain_is_whole() {
    // Recomputing every later digest still cannot change the result of the step.
    let (chart, lines, _) = journal();
    let forge = |from: &str, to: &str, effects: Option<Digest>| {
        let mut prev = Digest::default();
        let mut forged = Vec::new();
        for line in &lines {
            let line = line.replace(from, to);
            let mut entry = Entry::read(&line).unwrap();
            entry.effects = effects.filter(|_| entry.seq.0 == 5).unwrap_or(entry.effects);
            entry.prev = prev;
            let line = entry.line();
            prev = Digest::of(line.as_bytes());
            forged.push(line);
        }
        read(&chart, &forged).err().map(|divergence| divergence.to_string())
    };
    assert_eq!(forge("nothing", "of the kind", None), None);
    let other = Digest::of(b"other");
    let told = |found: Option<String>| found.unwrap_or_default();
    let routed = told(forge(r#"{"End":[1,null]}"#, r#"{"End":[0,null]}"#, None));
    assert_eq!(routed, "entry 2: the run took work in the journal, but takes end in this build");
    let ordered = told(forge("", "", Some(other)));
    assert!(ordered.starts_with(&format!("entry 5: the effects have digest {other}")), "{ordered}");
    let unknown = told(forge(r#"{"paused":"#, r#"{"posed":"#, None));
    assert!(unknown.starts_with("entry 3: the event cannot be read: unknown variant"), "{unknown}");
    let late = told(forge(r#""at":10,"#, r#""at":4,"#, None));
    assert_eq!(late, "entry 3: this build refuses an event that the journal holds");
}

#[test]
fn a_disposition_is_called_as_it_is_written() {
    for ended in [
        Disposition::Succeeded,
        Disposition::Failed,
        Disposition::Cancelled,
        Disposition::Budget,
        Disposition::Stuck,
        Disposition::Denied,
    ] {
        assert_eq!(serde_json::to_value(ended).unwrap(), ended.name());
    }
}
