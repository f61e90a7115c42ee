//! Sub-tokens: the words of an identifier.

/// Splits a name at underscores and at the boundaries of camel case, in lower case: the label of OGBG-CODE2.
///
/// A capital starts a word after a small letter or a digit, and where the next letter is small after another capital, so that
/// acronyms stay whole. Digits stay with what stands before them. OGB publishes labels, not the rule: the treatment of
/// acronyms and digits is ours. A name of nothing but underscores has no words.
///
/// ```
/// use pace_code::sub_tokens;
/// assert_eq!(sub_tokens("get_best_subset"), ["get", "best", "subset"]);
/// assert_eq!(sub_tokens("parseHTTPResponse"), ["parse", "http", "response"]);
/// assert_eq!(sub_tokens("__conv2dLayer__"), ["conv2d", "layer"]);
/// ```
pub fn sub_tokens(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut letters = name.chars().peekable();
    let mut before = '_';
    while let Some(letter) = letters.next() {
        let starts_word = letter.is_uppercase()
            && (before.is_lowercase()
                || before.is_numeric()
                || (before.is_uppercase() && letters.peek().is_some_and(|next| next.is_lowercase())));
        if (letter == '_' || starts_word) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if letter != '_' {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::sub_tokens;

    #[test]
    fn names_fall_into_words() {
        let cases: [(&str, &[&str]); 18] = [
            ("", &[]),
            ("_", &[]),
            ("___", &[]),
            ("f", &["f"]),
            ("get_name", &["get", "name"]),
            ("__init__", &["init"]),
            ("_private__twice", &["private", "twice"]),
            ("getName", &["get", "name"]),
            ("GetName", &["get", "name"]),
            ("setUp", &["set", "up"]),
            ("HTTPServer", &["http", "server"]),
            ("loadJSON", &["load", "json"]),
            ("MAX_SIZE", &["max", "size"]),
            ("sha256", &["sha256"]),
            ("utf8Decode", &["utf8", "decode"]),
            ("X509Cert", &["x509", "cert"]),
            ("do_GET", &["do", "get"]),
            ("naïveÜber", &["naïve", "über"]),
        ];
        for (name, words) in cases {
            assert_eq!(sub_tokens(name), words, "{name}");
        }
    }
}
