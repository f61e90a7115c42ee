//! Bytes, as `b'...'`.

/// Appends the `repr` of bytes: in single quotes unless only double quotes need no escape.
pub(crate) fn push_bytes(text: &mut String, bytes: impl Iterator<Item = u8> + Clone) {
    let has = |quote: u8| bytes.clone().any(|byte| byte == quote);
    let quote = if has(b'\'') && !has(b'"') { b'"' } else { b'\'' };
    text.push('b');
    text.push(char::from(quote));
    for byte in bytes {
        match byte {
            b'\t' => text.push_str("\\t"),
            b'\n' => text.push_str("\\n"),
            b'\r' => text.push_str("\\r"),
            b'\\' => text.push_str("\\\\"),
            _ if byte == quote => text.extend(['\\', char::from(byte)]),
            b' '..=b'~' => text.push(char::from(byte)),
            _ => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                let digits = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
                text.push_str("\\x");
                text.extend(digits.map(char::from));
            }
        }
    }
    text.push(char::from(quote));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_python_prints_them() {
        let cases: [(&[u8], &str); 6] = [
            (b"", "b''"),
            (b"a\tb\n\r\\", r"b'a\tb\n\r\\'"),
            (b"it's", "b\"it's\""),
            (b"say \"it's\"", r#"b'say "it\'s"'"#),
            (b"\"", "b'\"'"),
            (b"\x00\x1f\x7f\xff", r"b'\x00\x1f\x7f\xff'"),
        ];
        for (bytes, printed) in cases {
            let mut text = String::new();
            push_bytes(&mut text, bytes.iter().copied());
            assert_eq!(text, printed);
        }
    }
}
