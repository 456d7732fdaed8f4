//! Text in pieces.

use std::fmt;

/// Room of a piece. Pieces of this size find room between what else is in memory; a single text of megabytes would be moved
/// whenever it grows, and needs memory of its own.
const PIECE_BYTES: usize = 16 << 10;

/// Text that only grows, and is never moved.
#[derive(Clone, Debug, Default)]
pub(super) struct Text {
    pieces: Vec<String>,
}

impl Text {
    pub(super) fn pieces(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().map(String::as_str)
    }

    pub(super) fn whole(&self) -> String {
        self.pieces.concat()
    }

    pub(super) fn put(&mut self, text: impl fmt::Display) {
        fmt::Write::write_fmt(self, format_args!("{text}")).expect("it takes all text");
    }

    /// No more is coming.
    pub(super) fn end(&mut self) {
        if let Some(last) = self.pieces.last_mut() {
            last.shrink_to_fit();
        }
    }
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        match self.pieces.last_mut() {
            Some(last) if last.len() + text.len() <= last.capacity() => last.push_str(text),
            _ => {
                let mut piece = String::with_capacity(PIECE_BYTES.max(text.len()));
                piece.push_str(text);
                self.pieces.push(piece);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    #[test]
    fn the_whole_is_everything_in_its_order_and_no_piece_grows() {
        let mut text = Text::default();
        let parts = ["ab".repeat(PIECE_BYTES / 3), "c".repeat(PIECE_BYTES + 1), String::from("d"), "e".repeat(PIECE_BYTES)];
        parts.iter().for_each(|part| text.write_str(part).expect("it takes all text"));
        text.end();
        assert_eq!(text.whole(), parts.concat());
        assert!(text.pieces().eq(parts.iter().map(String::as_str)));
        assert_eq!(text.pieces[0].capacity(), PIECE_BYTES);
    }
}
