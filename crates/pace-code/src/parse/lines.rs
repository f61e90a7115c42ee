//! Numbers of lines.

/// The line of a byte, counted from 1.
pub(crate) fn line_at(text: &str, offset: usize) -> usize {
    LineCursor::new(text).line_at(offset)
}

/// Finds the lines of bytes that are asked for in ascending order, each byte read once.
pub(crate) struct LineCursor<'a> {
    text: &'a str,
    offset: usize,
    line: usize,
}

impl<'a> LineCursor<'a> {
    /// Starts in line 1.
    pub(crate) fn new(text: &'a str) -> LineCursor<'a> {
        LineCursor { text, offset: 0, line: 1 }
    }

    /// The line of a byte, counted from 1. Bytes before the last one asked for give the line of that one.
    pub(crate) fn line_at(&mut self, offset: usize) -> usize {
        let offset = offset.clamp(self.offset, self.text.len());
        self.line += n_breaks(&self.text.as_bytes()[self.offset..offset]);
        self.offset = offset;
        self.line
    }
}

/// How many line breaks there are.
fn n_breaks(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_from_one() {
        let text = "a\nb\n\nc";
        assert_eq!([0, 1, 2, 4, 5, 99].map(|offset| line_at(text, offset)), [1, 1, 2, 3, 4, 4]);
        let mut cursor = LineCursor::new(text);
        assert_eq!([0, 2, 2, 5].map(|offset| cursor.line_at(offset)), [1, 2, 2, 4]);
    }
}
