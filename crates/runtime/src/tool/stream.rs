//! Long output is cut: a stream keeps its head and its tail, and is shown piece by piece.

use std::collections::VecDeque;

/// The head and the tail of a stream: what lies between is counted and dropped.
#[derive(Debug)]
pub(super) struct TruncatedStream {
    limit: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    cut: usize,
}

impl TruncatedStream {
    /// Keeps this many bytes.
    pub(super) const fn new(limit: usize) -> Self {
        Self { limit, head: Vec::new(), tail: VecDeque::new(), cut: 0 }
    }

    /// Takes what comes next.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let room = (self.limit - self.limit / 2).saturating_sub(self.head.len());
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(self.limit / 2);
        self.tail.drain(..over);
        self.cut = self.cut.saturating_add(over);
    }

    /// Returns every byte; nothing if some were dropped.
    pub(super) fn whole(self) -> Option<Vec<u8>> {
        let mut bytes = self.head;
        bytes.extend(self.tail);
        (self.cut == 0).then_some(bytes)
    }

    /// Returns how many bytes are kept.
    pub(super) fn len(&self) -> usize {
        self.head.len().saturating_add(self.tail.len())
    }

    /// Returns the text, with a line that says what was cut where something was.
    pub(super) fn text(self, limit: usize) -> String {
        let (mut head, mut tail) = (self.head, Vec::from(self.tail));
        if self.cut == 0 && head.len().saturating_add(tail.len()) <= limit {
            head.append(&mut tail);
            return String::from_utf8_lossy(&head).into_owned();
        }
        let before = head.len().saturating_add(tail.len());
        if self.cut == 0 {
            // One piece so far: it is split again.
            head.append(&mut tail);
            tail = head.split_off(head.len().saturating_sub(limit / 2));
        }
        head.truncate(limit - limit / 2);
        tail.drain(..tail.len().saturating_sub(limit / 2));
        whole_end(&mut head);
        whole_start(&mut tail);
        let shown = head.len().saturating_add(tail.len());
        let cut = self.cut.saturating_add(before.saturating_sub(shown));
        format!(
            "{}\n[{cut} bytes are cut here]\n{}",
            String::from_utf8_lossy(&head),
            String::from_utf8_lossy(&tail)
        )
    }
}

/// Bytes of a stream that are shown while it comes.
const SHOWN: usize = 256 << 10;

/// A stream to show while it arrives: piece by piece, in whole characters, up to a limit.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    /// The start of an incomplete character.
    begun: Vec<u8>,
    shown: usize,
}

impl Pieces {
    /// Returns what can be shown now that these bytes have come.
    pub(super) fn next(&mut self, bytes: &[u8]) -> String {
        if self.shown >= SHOWN {
            return String::new();
        }
        self.begun.extend_from_slice(bytes);
        let mut piece = std::mem::take(&mut self.begun);
        let whole = piece.len();
        let tail = piece.get(whole.saturating_sub(4)..).unwrap_or_default();
        // Only the last character can be incomplete; invalid bytes are shown as such.
        let begun = tail.utf8_chunks().last().map_or(0, |chunk| {
            let rest = chunk.invalid();
            let first = rest.first().copied().unwrap_or(0);
            let length = if first >= 0xf0 {
                4
            } else if first >= 0xe0 {
                3
            } else {
                2
            };
            if (0xc2..0xf5).contains(&first) && rest.len() < length { rest.len() } else { 0 }
        });
        self.begun = piece.split_off(whole.saturating_sub(begun));
        self.shown = self.shown.saturating_add(piece.len());
        let mut text = String::from_utf8_lossy(&piece).into_owned();
        if self.shown >= SHOWN {
            text.push_str("\n[the rest is not shown]\n");
        }
        text
    }
}

/// Cuts a text to a length: its head and its tail.
pub(super) fn cut(text: &str, limit: usize) -> String {
    let mut kept = TruncatedStream::new(limit);
    kept.push(text.as_bytes());
    kept.text(limit)
}

/// Drops the bytes of a character that was cut in two at the end.
fn whole_end(bytes: &mut Vec<u8>) {
    if let Err(error) = std::str::from_utf8(bytes)
        && error.error_len().is_none()
    {
        bytes.truncate(error.valid_up_to());
    }
}

/// Drops the bytes of a character that was cut in two at the start.
fn whole_start(bytes: &mut Vec<u8>) {
    let broken = bytes.iter().take(3).take_while(|byte| (0x80..0xc0).contains(*byte)).count();
    bytes.drain(..broken);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_left_alone_and_a_long_one_keeps_both_ends() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("0123456789", 4), "01\n[6 bytes are cut here]\n89");
        assert_eq!(cut("0123456789", 5), "012\n[5 bytes are cut here]\n89");
        assert_eq!(cut("anything", 0), "\n[8 bytes are cut here]\n");
    }

    #[test]
    fn a_character_is_never_cut_in_two() {
        assert_eq!(cut("ééééé", 6), "é\n[6 bytes are cut here]\né");
        assert_eq!(cut("日本日本", 5), "日\n[9 bytes are cut here]\n");
    }

    #[test]
    fn a_stream_is_shown_in_whole_letters_and_not_without_end() {
        let text = "a日é😀z\u{301}".repeat(3);
        for size in 1..7 {
            let mut pieces = Pieces::default();
            let shown: String = text.as_bytes().chunks(size).map(|it| pieces.next(it)).collect();
            assert_eq!(shown, text, "in pieces of {size}");
        }
        let mut pieces = Pieces::default();
        assert_eq!(pieces.next(b"a\xff\xe9b"), "a\u{fffd}\u{fffd}b");
        let shown: usize = (0..100).map(|_| pieces.next(&[b'x'; 16 << 10]).len()).sum();
        assert!(shown < SHOWN + (32 << 10), "{shown}");
    }

    #[test]
    fn a_stream_is_kept_in_bounded_memory_and_can_be_cut_again() {
        let mut kept = TruncatedStream::new(10);
        for _ in 0..1000 {
            kept.push(b"abc");
        }
        assert_eq!(kept.len(), 10);
        assert_eq!(kept.text(4), "ab\n[2996 bytes are cut here]\nbc");
        let mut whole = TruncatedStream::new(10);
        whole.push(b"0123456789");
        assert_eq!(whole.text(10), "0123456789");
    }
}
