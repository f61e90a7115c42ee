//! [`sentence`]: what is wrong, for people.

/// An error with its causes behind it, each once: some say their cause themselves.
pub fn sentence(error: &anyhow::Error) -> String {
    let mut said = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if said.is_empty() {
            said = cause;
        } else if !said.contains(&cause) {
            said = format!("{said}: {cause}");
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::sentence;

    #[test]
    fn causes_are_said_once() {
        let error = anyhow!("no such file").context("cannot read a: no such file").context("no model");
        assert_eq!(sentence(&error), "no model: cannot read a: no such file");
    }
}
