//! [`check`]: whether markup is well formed, for the other tests.

/// Elements of HTML that have no end.
const VOID: [&str; 3] = ["meta", "br", "!doctype"];

/// Fails unless all tags are closed in order, attributes are quoted, and entities are among those that we write.
pub fn check(markup: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = markup;
    while let Some((text, after)) = rest.split_once('<') {
        check_text(text);
        let (tag, after) = after.split_once('>').expect("every tag ends");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "in {}", &markup[..markup.len() - after.len()]);
        } else {
            let name = tag.split([' ', '/']).next().unwrap_or_default();
            check_attributes(tag);
            if !tag.ends_with('/') && !VOID.contains(&name) {
                open.push(name);
            }
        }
        rest = match open.last() {
            Some(&name @ ("style" | "script")) => {
                let end = after.find(&format!("</{name}>")).expect("scripts and styles end");
                assert!(!after[..end].contains('<'), "nothing like a tag in a {name}");
                &after[end..]
            }
            _ => after,
        };
    }
    check_text(rest);
    assert!(open.is_empty(), "{open:?} are never closed");
}

/// Quotes of attributes come in pairs.
fn check_attributes(tag: &str) {
    assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
    tag.split('"').skip(1).step_by(2).for_each(check_text);
}

/// Every ampersand begins an entity, and no bracket is left over.
fn check_text(text: &str) {
    for (at, _) in text.match_indices('&') {
        let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
        assert!(known.iter().any(|entity| text[at..].starts_with(entity)), "{}", &text[at..]);
    }
    assert!(!text.contains('>'), "{text}");
}

/// The same of a page; its script holds brackets of its own.
pub fn check_page(html: &str) {
    let script = html.split("<script>").nth(1).and_then(|rest| rest.split("</script>").next()).unwrap_or_default();
    check(&if script.is_empty() { html.to_owned() } else { html.replace(script, "") });
}
