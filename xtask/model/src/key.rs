//! When two runs are the same to the kernel: the snapshot without what only
//! counts, and with times that are distances.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use pointsman_kernel::chart::Chart;

/// Numbers of entries, the clock, and what a run has done so far: nothing that
/// happens later depends on them. Two tables that never change are left out too.
const LEFT_OUT: [&str; 8] = ["seq", "at", "next", "now", "entered", "effect", "tools", "advice"];
/// Times, which matter by their distance from now.
const TIMES: [&str; 4] = ["wake", "deadline", "until", "expires"];

/// The parts that are left out of the snapshots of one chart.
pub(crate) struct Canon {
    left_out: Vec<&'static str>,
}

impl Canon {
    /// A memory that none of the chart's rules reads tells nothing apart.
    pub(crate) fn of(chart: &Chart) -> Self {
        let rules = chart.stuck();
        let unread = [
            ("calls", rules.identical_call.is_none()),
            ("queries", rules.identical_query.is_none()),
            ("failing", rules.failing_tool.is_none()),
            ("messages", rules.duplicate_message.is_none()),
            ("monologue", rules.monologue.is_none()),
            ("unreadable", rules.unparsable.is_none()),
            ("fruitless", rules.no_progress.is_none()),
            ("visits", rules.steps_in_state.is_none()),
        ];
        let unread = unread.into_iter().filter(|(_, unread)| *unread).map(|(name, _)| name);
        Self { left_out: LEFT_OUT.into_iter().chain(unread).collect() }
    }

    /// Returns the key of a snapshot that was taken at this time.
    pub(crate) fn key(&self, snapshot: &[u8], now: u64) -> u64 {
        let mut hasher = DefaultHasher::new();
        let (mut at, mut kept) = (0, 0);
        let rest = |at: usize| snapshot.get(at..).unwrap_or_default();
        let mut keep = |from: usize, to: usize| {
            hasher.write(snapshot.get(from..to).unwrap_or_default());
        };
        let mut times = Vec::new();
        while let Some(quote) = rest(at).iter().position(|byte| *byte == b'"') {
            let key = at + quote + 1;
            let text = rest(key).get(..string_end(rest(key))).unwrap_or_default();
            at = key + text.len() + 1;
            let Some(value) = rest(at).strip_prefix(b":") else { continue };
            let leaves_out = self.leaves_out(text, value);
            if !leaves_out && !TIMES.iter().any(|name| name.as_bytes() == text) {
                continue;
            }
            let end = value_end(value);
            if !leaves_out {
                let time = std::str::from_utf8(value.get(..end).unwrap_or_default());
                let time = time.ok().and_then(|time| time.parse().ok());
                times.push(time.map(|time: u64| time.wrapping_sub(now)));
            }
            keep(kept, at);
            at += 1 + end;
            kept = at;
        }
        keep(kept, snapshot.len());
        times.hash(&mut hasher);
        hasher.finish()
    }

    fn leaves_out(&self, key: &[u8], value: &[u8]) -> bool {
        // `visits` is a count in the core and a list that a rule reads in the memory.
        let counts = key == b"visits" && value.first() != Some(&b'[');
        counts || self.left_out.iter().any(|name| name.as_bytes() == key)
    }
}

/// Returns where a string ends whose opening quote was read.
fn string_end(text: &[u8]) -> usize {
    let mut escaped = false;
    let ends = text.iter().position(|byte| {
        let ends = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    });
    ends.unwrap_or(text.len())
}

/// Returns where a value of well-formed JSON ends.
fn value_end(text: &[u8]) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => at += 1 + string_end(text.get(at + 1..).unwrap_or_default()),
            b'{' | b'[' => depth += 1,
            b'}' | b']' | b',' if depth == 0 => return at,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 && matches!(byte, b'}' | b']' | b'"') {
            return at;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(snapshot: &str, now: u64) -> u64 {
        Canon { left_out: LEFT_OUT.into() }.key(snapshot.as_bytes(), now)
    }

    #[test]
    fn only_relevant_state_distinguishes_runs() {
        let run = r#"{"now":5,"wake":9,"seen":[{"key":1,"seq":2}],"at":[0,1],"x":"\"seq\":1"}"#;
        let same = r#"{"now":7,"wake":11,"seen":[{"key":1,"seq":4}],"at":[0,3],"x":"\"seq\":1"}"#;
        assert_eq!(key(run, 5), key(same, 7));
        for (from, to) in
            [("\"wake\":9", "\"wake\":8"), ("\"key\":1", "\"key\":2"), ("\\\"seq", "\\\"sex")]
        {
            assert_ne!(key(run, 5), key(&run.replace(from, to), 5), "{from}");
        }
    }

    #[test]
    fn visits_count_only_in_the_memory() {
        assert_eq!(key(r#"{"visits":1}"#, 0), key(r#"{"visits":2}"#, 0));
        assert_ne!(key(r#"{"visits":[[1,2]]}"#, 0), key(r#"{"visits":[[1,3]]}"#, 0));
    }
}
