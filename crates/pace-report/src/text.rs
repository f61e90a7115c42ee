//! Text and numbers in markup.

use std::borrow::Cow;
use std::fmt;

/// Text as markup that means the text, between tags and in quoted attributes alike.
///
/// Characters that XML does not know, such as most control characters, become U+FFFD.
pub fn escape(text: &str) -> Cow<'_, str> {
    let is_odd = |c: char| matches!(c, '&' | '<' | '>' | '"' | '\'') || !is_xml(c);
    if !text.contains(is_odd) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c if is_xml(c) => escaped.push(c),
            _ => escaped.push(char::REPLACEMENT_CHARACTER),
        }
    }
    Cow::Owned(escaped)
}

/// Whether XML 1.0 allows the character.
fn is_xml(c: char) -> bool {
    !matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}

/// At most `n_chars` characters: a long text loses its middle, since names often differ at their ends.
pub fn shorten(text: &str, n_chars: usize) -> Cow<'_, str> {
    let length = text.chars().count();
    if length <= n_chars {
        return Cow::Borrowed(text);
    }
    let n_last = n_chars.saturating_sub(1) / 3;
    let n_first = n_chars.saturating_sub(1) - n_last;
    let first: String = text.chars().take(n_first).collect();
    let last: String = text.chars().skip(length - n_last).collect();
    Cow::Owned(format!("{first}…{last}"))
}

/// About how wide a text is, in units of its font size. Rather too wide: fonts differ, and nothing may overlap.
pub fn ems(text: &str) -> f64 {
    let em = |c: char| match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.34,
        'f' | 't' | 'r' | ' ' | '(' | ')' | '[' | ']' | '-' | '/' => 0.42,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.92,
        c if c.is_ascii_uppercase() => 0.7,
        c if (c as u32) < 0x1100 => 0.61,
        // East Asian letters and emoji fill a square.
        _ => 1.1,
    };
    text.chars().map(em).sum()
}

/// A coordinate with at most one decimal: a tenth of a pixel is enough, and short.
#[derive(Clone, Copy, Debug)]
pub struct Px(pub f64);

impl fmt::Display for Px {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (self.0 * 10.0).round() as i64;
        if tenths % 10 == 0 { write!(f, "{}", tenths / 10) } else { write!(f, "{}", tenths as f64 / 10.0) }
    }
}

/// A number as people write it: about four digits, no trailing zeros, an exponent only where it saves many zeros.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() || value == 0.0 {
        return format!("{value}").replace("-0", "0");
    }
    if !(1e-4..1e7).contains(&size) {
        return format!("{value:.3e}").replace(".000e", "e");
    }
    let decimals = (3 - size.log10().floor() as i32).clamp(0, 7) as usize;
    let plain = format!("{value:.decimals$}");
    if plain.contains('.') { plain.trim_end_matches('0').trim_end_matches('.').to_owned() } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_inert() {
        assert_eq!(escape("plain"), "plain");
        assert_eq!(escape("<a b='\"&'>\0"), "&lt;a b=&#39;&quot;&amp;&#39;&gt;\u{fffd}");
    }

    #[test]
    fn long_names_keep_both_ends() {
        assert_eq!(shorten("conv3x3-bn-relu", 15), "conv3x3-bn-relu");
        assert_eq!(shorten("convolution3x3-bn-relu", 10), "convol…elu");
        assert_eq!(shorten("äöü", 2), "ä…");
        assert_eq!(shorten("abc", 0), "…");
    }

    #[test]
    fn numbers_are_short() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (12.0, "12"),
            (0.12345, "0.1235"),
            (94_321.7, "94322"),
            (1e-9, "1e-9"),
            (2.5e12, "2.500e12"),
        ];
        for (value, wanted) in cases {
            assert_eq!(number(value), wanted);
        }
        assert_eq!(number(f64::NAN), "NaN");
        assert_eq!([Px(3.04), Px(-0.04), Px(2.25)].map(|px| px.to_string()), ["3", "0", "2.3"]);
    }
}
