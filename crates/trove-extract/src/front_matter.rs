//! The block of metadata before a Markdown document.

use crate::writer;

/// Takes the front matter off `text`: the title that it names, and the rest.
///
/// That is YAML between lines of `---`, or TOML between lines of `+++`, at the very beginning. A
/// rule that happens to open a document is told from it by what follows: the block must end, and
/// one of its lines must be an assignment.
pub(crate) fn split(text: &str) -> (Option<String>, &str) {
    block(text, "---", &["---", "..."], ':')
        .or_else(|| block(text, "+++", &["+++"], '='))
        .unwrap_or((None, text))
}

fn block<'t>(
    text: &'t str,
    opening: &str,
    closings: &[&str],
    separator: char,
) -> Option<(Option<String>, &'t str)> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next()?;
    if first.trim_end() != opening {
        return None;
    }
    let mut length = first.len();
    let mut title = None;
    let mut has_key = false;
    for line in lines {
        length += line.len();
        if closings.contains(&line.trim_end()) {
            return has_key.then(|| (title, &text[length..]));
        }
        // Nested values are indented and no concern of ours.
        if let Some((key, value)) = line.split_once(separator)
            && is_key(key.trim_end())
        {
            has_key = true;
            if title.is_none() && key.trim_end().eq_ignore_ascii_case("title") {
                title = scalar(value);
            }
        }
    }
    None
}

fn is_key(key: &str) -> bool {
    !key.is_empty()
        && key.chars().all(|character| character.is_alphanumeric() || "_-.".contains(character))
}

/// The value of a one-line scalar, as YAML and TOML write it alike.
fn scalar(value: &str) -> Option<String> {
    let value = value.trim();
    let quoted = ['"', '\''].into_iter().find_map(|quote| {
        let inner = value.strip_prefix(quote)?;
        let (inner, _comment) = inner.rsplit_once(quote)?;
        Some(match quote {
            '"' => inner.replace("\\\"", "\"").replace("\\\\", "\\"),
            _ => inner.replace("''", "'"),
        })
    });
    let plain = || match value.split_once(" #") {
        Some((before, _comment)) => before.to_owned(),
        None => value.to_owned(),
    };
    let text = quoted.unwrap_or_else(plain);
    // The head of a block scalar; its lines are not worth a YAML parser.
    if matches!(text.as_str(), "|" | ">" | "|-" | ">-" | "~" | "null") {
        return None;
    }
    writer::title(&text)
}

#[cfg(test)]
mod tests {
    use super::split;

    fn check(text: &str, title: Option<&str>, rest: &str) {
        assert_eq!(split(text), (title.map(str::to_owned), rest), "{text:?}");
    }

    #[test]
    fn front_matter_names_the_title() {
        check("---\ntitle: A: b # no\ntags:\n  - x\n---\nrest", Some("A: b"), "rest");
        check("---\r\ntitle: \"A \\\"b\\\"\"\r\n...\r\nrest", Some("A \"b\""), "rest");
        check("---\ntitle: 'it''s'\n---\n", Some("it's"), "");
        check("+++\ntitle = \"A\"\ndate = 1\n+++\nrest", Some("A"), "rest");
        check("---\nauthor: me\n---\nrest", None, "rest");
        check("---\ntitle: >-\n  folded\n---\nrest", None, "rest");
    }

    #[test]
    fn a_rule_is_no_front_matter() {
        for text in
            ["---\n\nprose\n\n---\nmore", "---\ntitle: A\n", "text\n---\na: b\n---\n", "---"]
        {
            check(text, None, text);
        }
    }
}
