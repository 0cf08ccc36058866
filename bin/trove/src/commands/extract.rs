//! `trove extract FILE`: what `trove index` would find in a file, and what it would not.

use anyhow::{Context, anyhow};
use serde_json::{Value, json};
use tokio::task::spawn_blocking;
use trove_domain::port::ExtractedText;

use super::{print, print_json, printable};
use crate::cli::ExtractArgs;
use crate::config::Config;
use crate::failure::{FAILURE, Failure, SUCCESS};
use crate::wiring::extractor;

/// Prints title, facts, text and warnings.
///
/// # Errors
///
/// When the file has no text, with the cause and what can be done.
pub async fn run(config: &Config, args: ExtractArgs) -> Result<u8, Failure> {
    let extractor = extractor(&config.ingestion);
    let path = args.file.clone();
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let answer = spawn_blocking(move || extractor.extract_file(&name, &path))
        .await
        .context("reading the file failed")?;
    match answer {
        Ok(text) if args.json => print_json(&as_json(&text))?,
        Ok(text) => print(&as_text(&text))?,
        Err(error) => {
            let file = args.file.display().to_string();
            let error = anyhow!("{}: {error} ({})", printable(&file), error.remedy());
            return Err(Failure { code: FAILURE, error });
        }
    }
    Ok(SUCCESS)
}

fn as_text(text: &ExtractedText) -> String {
    let about = &text.about;
    let date = |at: &Option<chrono::DateTime<chrono::Utc>>| at.map(|at| at.to_rfc3339());
    let mut facts = vec![
        ("title".to_owned(), text.title.clone()),
        ("authors".to_owned(), joined(&about.authors)),
        ("created".to_owned(), date(&about.created_at)),
        ("modified".to_owned(), date(&about.modified_at)),
        ("language".to_owned(), about.language.clone()),
    ];
    facts.extend(about.properties.iter().map(|(name, values)| (name.clone(), joined(values))));
    facts.push(("links".to_owned(), joined(&about.links)));
    facts.extend(text.warnings.iter().map(|one| ("warning".to_owned(), Some(one.clone()))));
    let mut out = String::new();
    for (name, value) in facts {
        if let Some(value) = value {
            out.push_str(&format!("{name}: {}\n", printable(&value)));
        }
    }
    for (number, section) in (1..).zip(&text.sections) {
        let link = section.link.as_deref().map(|link| format!(" {link}")).unwrap_or_default();
        out.push_str(&format!("\n--- section {number}{}\n", printable(&link)));
        for line in section.text.lines() {
            // A tab would be shown as an escape.
            out.push_str(&printable(&line.replace('\t', "    ")));
            out.push('\n');
        }
    }
    out
}

fn joined(values: &[String]) -> Option<String> {
    (!values.is_empty()).then(|| values.join("; "))
}

fn as_json(text: &ExtractedText) -> Value {
    let about = &text.about;
    let sections = text.sections.iter();
    let sections: Vec<Value> =
        sections.map(|section| json!({ "text": section.text, "link": section.link })).collect();
    json!({
        "title": text.title,
        "authors": about.authors,
        "created_at": about.created_at,
        "modified_at": about.modified_at,
        "language": about.language,
        "links": about.links,
        "properties": about.properties,
        "sections": sections,
        "warnings": text.warnings,
    })
}

#[cfg(test)]
mod tests {
    use trove_domain::document::Section;
    use trove_domain::port::ExtractedText;

    use super::as_text;

    #[test]
    fn what_controls_a_terminal_is_escaped() {
        let section =
            Section { text: "a\n\u{1b}[31mb".to_owned(), link: Some("#page=1".to_owned()) };
        let text = ExtractedText {
            title: Some("A".to_owned()),
            sections: vec![section],
            warnings: vec!["half\u{7}".to_owned()],
            ..ExtractedText::default()
        };
        assert_eq!(
            as_text(&text),
            "title: A\nwarning: half\\u{7}\n\n--- section 1 #page=1\na\n\\u{1b}[31mb\n"
        );
    }
}
