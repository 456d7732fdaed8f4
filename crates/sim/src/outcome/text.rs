//! Text in pieces.

use std::fmt;
use std::ops::Range;

/// Room of a piece. Pieces of this size fit between other allocations; a single text of megabytes
/// would be moved whenever it grows, and needs memory of its own.
const PIECE_BYTES: usize = 16 << 10;

/// Text that only grows, and is never moved.
#[derive(Clone, Debug, Default)]
pub(super) struct Text {
    pieces: Vec<String>,
    /// The pieces that have the rows of a list, without its brackets.
    lists: Vec<(&'static str, Range<usize>)>,
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

    pub(super) fn into_pieces(self) -> (Vec<String>, Vec<(&'static str, Range<usize>)>) {
        (self.pieces, self.lists)
    }

    /// Puts the output of `write` into pieces of its own, under this name.
    pub(super) fn put_list(&mut self, key: &'static str, write: impl FnOnce(&mut Self)) {
        let from = self.cut();
        write(self);
        let to = self.cut();
        self.lists.push((key, from..to));
    }

    /// The next text begins a piece, whose number this is.
    fn cut(&mut self) -> usize {
        self.end();
        self.pieces.push(String::new());
        self.pieces.len()
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
        let parts = [
            "ab".repeat(PIECE_BYTES / 3),
            "c".repeat(PIECE_BYTES + 1),
            String::from("d"),
            "e".repeat(PIECE_BYTES),
        ];
        parts.iter().for_each(|part| text.write_str(part).expect("it takes all text"));
        text.end();
        assert_eq!(text.whole(), parts.concat());
        assert!(text.pieces().eq(parts.iter().map(String::as_str)));
        assert_eq!(text.pieces[0].capacity(), PIECE_BYTES);
    }

    #[test]
    fn a_list_has_pieces_of_its_own() {
        let mut text = Text::default();
        text.put("before");
        text.put_list("empty", |_| ());
        text.put_list("rows", |text| text.put("of the list"));
        text.put("after");
        assert_eq!(text.whole(), "beforeof the listafter");
        let (pieces, lists) = text.into_pieces();
        let found: Vec<(&str, String)> =
            lists.into_iter().map(|(key, at)| (key, pieces[at].concat())).collect();
        assert_eq!(found, [("empty", String::new()), ("rows", String::from("of the list"))]);
    }
}
