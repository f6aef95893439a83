//! A turn of a conversation, as a person, a model and a tool would have it.

use pointsman_kernel::{
    agent::{Answer, Order, Reply, ToolCall, ToolResult},
    body::Body,
    effect::{Effect, EffectKind},
    event::{Event, Usage},
    governor::{Grant, Level, identity},
};
use serde_json::{json, value::to_raw_value};

use super::WrittenRun;

/// Words of which texts are made.
const WORDS: [&str; 16] = [
    "signal",
    "points",
    "lever",
    "train",
    "track",
    "box",
    "lamp",
    "lock",
    "driver",
    "guard",
    "line",
    "crossing",
    "station",
    "timetable",
    "engine",
    "bell",
];

/// Writes a turn: a message, a model that reads a file, and its answer.
pub(super) fn turn(run: &mut WrittenRun, number: usize) {
    let text = format!("Question {number}: what does the {} say?", sentence(number, 4));
    let body = to_raw_value(&json!({ "text": text })).expect("a message serialises");
    let mut open = run.write(Event::Given { event: 0, body });
    // The calls of a model in this turn. Before the first one it may be asked for a summary.
    let mut asked = 0;
    while !open.is_empty() {
        let mut next = Vec::new();
        for Effect { id: effect, order } in open {
            let event = match order {
                EffectKind::Start(order) => {
                    let tokens = u64::try_from(700 + number % 500).expect("it is small");
                    let usage = Usage { tokens, ..Usage::default() };
                    asked += usize::from(matches!(order, Order::Model(_)));
                    let answer = answer(order, number, asked);
                    Event::Answered { effect, answer, usage, sent: None }
                }
                EffectKind::AskPerson(call) => {
                    let (tool, arguments, until) = (call.tool.clone(), Vec::new(), None);
                    let grant = Grant { tool, arguments, level: Level::Allow, until };
                    Event::ApprovalAnswered {
                        effect,
                        call: identity(&call),
                        granted: true,
                        reason: "It only reads.".into(),
                        remember: Some(grant),
                        sent: None,
                    }
                }
                _ => continue,
            };
            next.extend(run.write(event));
        }
        open = next;
    }
}

fn answer(order: Order<Body>, number: usize, asked: usize) -> Answer<Body> {
    match order {
        Order::Model(_) if asked == 1 => {
            let path = format!("notes/{}-{number}.md", WORDS[number % WORDS.len()]);
            let arguments = to_raw_value(&json!({ "path": path })).expect("it serialises");
            let call = ToolCall { id: format!("call_{number}"), tool: "read".into(), arguments };
            Answer::Model(Reply { text: format!("I read `{path}` first."), calls: vec![call] })
        }
        Order::Model(_) => Answer::Model(Reply { text: told(number), calls: Vec::new() }),
        Order::Tool(_) => {
            let lines =
                (1..=8 + number % 12).map(|at| format!("{at}: {}", sentence(number + at, 9)));
            let output = lines.collect::<Vec<_>>().join("\n");
            Answer::Tool(ToolResult { ok: true, output, mutated: false })
        }
        Order::Own { task, .. } => Answer::Own(task),
        _ => unreachable!("a conversation starts no runs"),
    }
}

/// Returns an answer as models write it: Markdown with a list, and now and then with code.
fn told(number: usize) -> String {
    let points: Vec<String> = (0..3 + number % 4)
        .map(|at| format!("- **{}**: {}", sentence(number + at, 2), sentence(number * 3 + at, 8)))
        .collect();
    let code = if number.is_multiple_of(5) {
        format!("\n\n```sh\ngrep -n {} notes/*.md\n```", WORDS[number % WORDS.len()])
    } else {
        String::new()
    };
    format!("The file says {}.\n\n{}{code}", sentence(number * 7, 6), points.join("\n"))
}

/// Returns some words, the same for the same number.
fn sentence(number: usize, words: usize) -> String {
    let word = |at: usize| WORDS[(number * 31 + at * 7 + number / WORDS.len()) % WORDS.len()];
    (0..words).map(word).collect::<Vec<_>>().join(" ")
}
