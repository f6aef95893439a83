//! What a finger did, read from W3C actions whose shape is checked.

use serde_json::{Map, Value};

/// How long a finger rests at least for a long press, in milliseconds.
const LONG: u64 = 500;
/// How far a finger may slip in a tap.
const SLIP: i64 = 20;

/// A gesture, where it began.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Touch {
    pub(super) at: (i64, i64),
    pub(super) kind: Kind,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Tap,
    Hold,
    Swipe(&'static str),
}

/// Reads the one-finger gesture of a body of actions, or reports its mistake.
pub(super) fn read(body: &Map<String, Value>) -> Result<Touch, String> {
    let Some([source]) = body.get("actions").and_then(Value::as_array).map(Vec::as_slice) else {
        return Err("actions: one source of input was expected".into());
    };
    let text =
        |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    if text(source, "type").as_deref() != Some("pointer") || text(source, "id").is_none() {
        return Err("a source of input has a type and an id".into());
    }
    if source.pointer("/parameters/pointerType") != Some(&Value::from("touch")) {
        return Err("a phone is touched by a finger".into());
    }
    let moves = source.get("actions").and_then(Value::as_array).ok_or("a source has actions")?;
    let number = |value: &Value, name: &str| {
        value.get(name).and_then(Value::as_i64).ok_or_else(|| format!("{name} is a whole number"))
    };
    let (mut at, mut began, mut ended, mut rested) = (None, None, None, 0);
    for one in moves {
        match text(one, "type").as_deref() {
            Some("pointerMove") => {
                if text(one, "origin").as_deref() != Some("viewport")
                    || number(one, "duration")? < 0
                {
                    return Err("a move has an origin and a duration".into());
                }
                at = Some((number(one, "x")?, number(one, "y")?));
            }
            Some("pointerDown") if number(one, "button")? == 0 => began = at,
            Some("pointerUp") if number(one, "button")? == 0 => ended = at,
            Some("pause") => rested += number(one, "duration")?.unsigned_abs(),
            other => return Err(format!("{other:?} is not an action of a pointer")),
        }
    }
    let (Some(began), Some(ended)) = (began, ended) else {
        return Err("a finger goes down and up again".into());
    };
    let (dx, dy) = (ended.0 - began.0, ended.1 - began.1);
    let kind = if dx.abs() < SLIP && dy.abs() < SLIP {
        if rested >= LONG { Kind::Hold } else { Kind::Tap }
    } else if dx.abs() > dy.abs() {
        Kind::Swipe(if dx > 0 { "right" } else { "left" })
    } else {
        Kind::Swipe(if dy > 0 { "down" } else { "up" })
    };
    Ok(Touch { at: began, kind })
}
