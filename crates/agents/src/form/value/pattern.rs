//! The `pattern` of a field: does a text match it? The part of regular expressions that
//! forms use, by backtracking within a fixed number of steps.

use alloc::{boxed::Box, vec::Vec};

/// Steps that are taken at most before a pattern counts as unknown.
const MAX_STEPS: u32 = 50_000;
/// Characters of a text at most: each may take the walk a few calls deeper.
const MAX_TEXT: usize = 250;
/// Groups inside groups at most.
const MAX_DEPTH: u8 = 20;

/// Returns whether the whole text matches; nothing for a pattern that is not understood.
pub(super) fn matches(pattern: &str, text: &str) -> Option<bool> {
    let mut reader = Reader { rest: pattern.chars().collect(), at: 0 };
    let node = reader.alternatives(0)?;
    if reader.at < reader.rest.len() {
        return None;
    }
    let text: Vec<char> = text.chars().collect();
    if text.len() > MAX_TEXT {
        return None;
    }
    let mut steps = MAX_STEPS;
    let whole = text.len();
    let found = walk(&node, &text, 0, &mut steps, &mut |at, _| at == whole);
    if steps == 0 { None } else { Some(found) }
}

const DIGIT: &[(char, char)] = &[('0', '9')];
const WORD: &[(char, char)] = &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')];
const SPACE: &[(char, char)] = &[(' ', ' '), ('\t', '\r'), ('\u{a0}', '\u{a0}')];

enum Node {
    /// One character of a set.
    Set { ranges: Vec<(char, char)>, negated: bool },
    /// One after the other.
    Row(Vec<Self>),
    /// One of several.
    Any(Vec<Self>),
    /// So many times.
    Times { node: Box<Self>, min: u16, max: u16 },
    /// The beginning.
    Start,
    /// The end.
    End,
}

struct Reader {
    rest: Vec<char>,
    at: usize,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at = self.at.saturating_add(1);
        Some(c)
    }

    fn takes(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at = self.at.saturating_add(1);
        }
        found
    }

    fn alternatives(&mut self, depth: u8) -> Option<Node> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut ways = Vec::from([self.row(depth)?]);
        while self.takes('|') {
            ways.push(self.row(depth)?);
        }
        Some(Node::Any(ways))
    }

    fn row(&mut self, depth: u8) -> Option<Node> {
        let mut nodes = Vec::new();
        while let Some(c) = self.peek().filter(|c| !matches!(c, '|' | ')')) {
            self.at = self.at.saturating_add(1);
            let node = match c {
                '^' => Node::Start,
                '$' => Node::End,
                '.' => Node::Set { ranges: Vec::from([('\n', '\n'), ('\r', '\r')]), negated: true },
                '(' => {
                    // A group that looks ahead or behind is not understood.
                    if self.takes('?') && !self.takes(':') {
                        return None;
                    }
                    let node = self.alternatives(depth.saturating_add(1))?;
                    if !self.takes(')') {
                        return None;
                    }
                    node
                }
                '[' => self.set()?,
                '\\' => self.escaped()?,
                '*' | '+' | '?' | '{' | '}' | ']' => return None,
                other => single(other),
            };
            let node = self.times(node)?;
            nodes.push(node);
        }
        Some(Node::Row(nodes))
    }

    fn times(&mut self, node: Node) -> Option<Node> {
        let (min, max) = match self.peek() {
            Some('*') => (0, u16::MAX),
            Some('+') => (1, u16::MAX),
            Some('?') => (0, 1),
            Some('{') => {
                self.at = self.at.saturating_add(1);
                let min = self.number()?;
                let max = if self.takes(',') {
                    if self.peek() == Some('}') { u16::MAX } else { self.number()? }
                } else {
                    min
                };
                if self.peek() != Some('}') {
                    return None;
                }
                (min, max)
            }
            _ => return Some(node),
        };
        self.at = self.at.saturating_add(1);
        // Lazy or not, the whole text must match.
        self.takes('?');
        Some(Node::Times { node: Box::new(node), min, max })
    }

    fn number(&mut self) -> Option<u16> {
        let mut found = None;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            self.at = self.at.saturating_add(1);
            let digit = u16::try_from(digit).ok()?;
            found = Some(found.unwrap_or(0_u16).checked_mul(10)?.checked_add(digit)?);
        }
        found
    }

    fn set(&mut self) -> Option<Node> {
        let negated = self.takes('^');
        let mut ranges = Vec::new();
        loop {
            let low = match self.next()? {
                ']' => return Some(Node::Set { ranges, negated }),
                '\\' => {
                    let Node::Set { ranges: more, negated: false } = self.escaped()? else {
                        return None;
                    };
                    // An escape is a character, or a class that begins no range.
                    match more[..] {
                        [(low, high)] if low == high => low,
                        _ => {
                            ranges.extend(more);
                            continue;
                        }
                    }
                }
                other => other,
            };
            let goes_on = self.peek() == Some('-')
                && self.rest.get(self.at.saturating_add(1)).is_some_and(|c| *c != ']');
            let high = if goes_on {
                self.at = self.at.saturating_add(1);
                match self.next()? {
                    '\\' => self.next()?,
                    other => other,
                }
            } else {
                low
            };
            ranges.push((low, high));
        }
    }

    fn escaped(&mut self) -> Option<Node> {
        let set = |ranges: &[(char, char)], negated| Node::Set { ranges: ranges.into(), negated };
        Some(match self.next()? {
            'd' => set(DIGIT, false),
            'D' => set(DIGIT, true),
            'w' => set(WORD, false),
            'W' => set(WORD, true),
            's' => set(SPACE, false),
            'S' => set(SPACE, true),
            c if c.is_ascii_alphanumeric() => return None,
            c => single(c),
        })
    }
}

fn single(c: char) -> Node {
    Node::Set { ranges: Vec::from([(c, c)]), negated: false }
}

type Then<'a> = dyn FnMut(usize, &mut u32) -> bool + 'a;

/// Walks from a place in the text, and asks `then` about every place where it ends.
fn walk(node: &Node, text: &[char], at: usize, steps: &mut u32, then: &mut Then<'_>) -> bool {
    *steps = steps.saturating_sub(1);
    if *steps == 0 {
        return false;
    }
    match node {
        Node::Start => at == 0 && then(at, steps),
        Node::End => at == text.len() && then(at, steps),
        Node::Set { ranges, negated } => text.get(at).is_some_and(|c| {
            let within = ranges.iter().any(|(low, high)| (low..=high).contains(&c));
            within != *negated && then(at.saturating_add(1), steps)
        }),
        Node::Row(nodes) => row(nodes, text, at, steps, then),
        Node::Any(ways) => ways.iter().any(|way| walk(way, text, at, steps, then)),
        Node::Times { node, min, max } => times(node, (*min, *max), text, at, steps, then),
    }
}

fn row(nodes: &[Node], text: &[char], at: usize, steps: &mut u32, then: &mut Then<'_>) -> bool {
    match nodes.split_first() {
        None => then(at, steps),
        Some((first, rest)) => {
            walk(first, text, at, steps, &mut |at, steps| row(rest, text, at, steps, then))
        }
    }
}

fn times(
    node: &Node,
    (min, max): (u16, u16),
    text: &[char],
    at: usize,
    steps: &mut u32,
    then: &mut Then<'_>,
) -> bool {
    if max > 0 {
        let less = (min.saturating_sub(1), max.saturating_sub(1));
        let more = walk(node, text, at, steps, &mut |next, steps| {
            // What takes nothing would be taken forever.
            next > at && times(node, less, text, next, steps, then)
        });
        if more {
            return true;
        }
    }
    min == 0 && then(at, steps)
}
