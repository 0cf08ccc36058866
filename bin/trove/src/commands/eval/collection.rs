//! A judged collection: `corpus.jsonl`, `queries.jsonl`, `qrels.tsv`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, anyhow, bail};
use serde::Deserialize;
use trove_domain::document::{Document, Section};
use trove_domain::id::DocumentId;
use trove_domain::source::DocumentSource;

use super::metrics::Grades;

/// Everything that is needed to measure.
pub(super) struct Collection {
    pub(super) documents: Vec<Document>,
    /// Text by query id.
    pub(super) queries: HashMap<String, String>,
    pub(super) judgments: Judgments,
}

/// What is relevant, by query id.
#[derive(Debug, Default)]
pub(super) struct Judgments(BTreeMap<String, Grades>);

impl Judgments {
    /// The queries with a relevant document, by rising id; others say nothing about quality.
    pub(super) fn judged(&self) -> impl Iterator<Item = (&str, &Grades)> {
        self.0
            .iter()
            .filter(|(_, grades)| grades.values().any(|grade| *grade >= 1))
            .map(|(query, grades)| (query.as_str(), grades))
    }
}

#[derive(Deserialize)]
struct CorpusLine {
    _id: Id,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    text: Option<String>,
}

#[derive(Deserialize)]
struct QueryLine {
    _id: Id,
    text: String,
}

/// Ids are text; some collections write numbers.
#[derive(Deserialize)]
#[serde(untagged)]
enum Id {
    Text(String),
    Number(serde_json::Number),
}

impl Id {
    fn into_string(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Number(number) => number.to_string(),
        }
    }
}

impl Collection {
    /// Reads the collection in `dir`, with other judgments than its own if `qrels` says so. Blocks.
    ///
    /// # Errors
    ///
    /// The first problem, with file and line.
    pub(super) fn read(dir: &Path, qrels: Option<&Path>) -> anyhow::Result<Self> {
        let qrels = qrels.map_or_else(|| dir.join("qrels.tsv"), Path::to_owned);
        let judgments = read_judgments(&qrels)?;
        let queries = read_queries(&dir.join("queries.jsonl"))?;
        let documents = read_corpus(&dir.join("corpus.jsonl"))?;
        if documents.is_empty() {
            bail!("{} holds no documents", dir.join("corpus.jsonl").display());
        }
        if judgments.judged().next().is_none() {
            bail!("{} holds no query with a relevant document", qrels.display());
        }
        Ok(Self { documents, queries, judgments })
    }
}

fn read_corpus(path: &Path) -> anyhow::Result<Vec<Document>> {
    let mut seen = HashSet::new();
    let mut documents = Vec::new();
    each_line(path, |line| {
        let CorpusLine { _id, title, text } = serde_json::from_str(line)?;
        let id = _id.into_string();
        if !seen.insert(id.clone()) {
            bail!("the document {id:?} is here for the second time");
        }
        let sections = vec![Section { text: text.unwrap_or_default(), link: None }];
        let document = Document::new(
            DocumentId::new(id.clone())?,
            DocumentSource::NotApplicable,
            id,
            sections,
        );
        // Without a title there is none: the id must not be searched in its place.
        documents.push(Document { title: Some(title.unwrap_or_default()), ..document });
        Ok(())
    })?;
    Ok(documents)
}

fn read_queries(path: &Path) -> anyhow::Result<HashMap<String, String>> {
    let mut queries = HashMap::new();
    each_line(path, |line| {
        let QueryLine { _id, text } = serde_json::from_str(line)?;
        let id = _id.into_string();
        match queries.insert(id.clone(), text) {
            None => Ok(()),
            Some(_) => Err(anyhow!("the query {id:?} is here for the second time")),
        }
    })?;
    Ok(queries)
}

/// Three columns, or the four of TREC; a header line is passed over.
fn read_judgments(path: &Path) -> anyhow::Result<Judgments> {
    let mut judgments = Judgments::default();
    let mut first = true;
    each_line(path, |line| {
        let is_first = std::mem::take(&mut first);
        let columns: Vec<&str> = if line.contains('\t') {
            line.split('\t').map(str::trim).collect()
        } else {
            line.split_whitespace().collect()
        };
        let (query, document, grade) = match columns.as_slice() {
            [query, document, grade] | [query, _, document, grade] => (query, document, grade),
            _ => bail!("expected query id, document id and score, found {} columns", columns.len()),
        };
        match whole(grade) {
            Some(grade) => {
                let grades = judgments.0.entry((*query).to_owned()).or_default();
                grades.insert((*document).to_owned(), grade);
                Ok(())
            }
            None if is_first => Ok(()),
            None => Err(anyhow!("the score {grade:?} is not a whole number")),
        }
    })?;
    Ok(judgments)
}

/// `2`, and `2.0` as well.
fn whole(text: &str) -> Option<i64> {
    let digits = text.strip_suffix(".0").unwrap_or(text);
    digits.parse().ok()
}

/// Hands over the lines of a file that are not blank.
fn each_line(path: &Path, mut take: impl FnMut(&str) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let open = || format!("{} cannot be read", path.display());
    let file = BufReader::new(File::open(path).with_context(open)?);
    for (number, line) in file.lines().enumerate() {
        let at = || format!("{}:{}", path.display(), number + 1);
        let line = line.with_context(at)?;
        if !line.trim().is_empty() {
            take(&line).with_context(at)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::Collection;

    const CORPUS: &str = "{\"_id\": \"d1\", \"title\": \"T\", \"text\": \"words\"}\n";
    const QUERIES: &str = "{\"_id\": 7, \"text\": \"words?\"}\n\n";
    const QRELS: &str = "query-id\tcorpus-id\tscore\n7\td1\t1\n8\td1\t0\n";

    fn read(corpus: &str, queries: &str, qrels: &str) -> anyhow::Result<Collection> {
        let temp = tempfile::tempdir()?;
        let write = |name: &str, text: &str| fs::write(temp.path().join(name), text);
        write("corpus.jsonl", corpus)?;
        write("queries.jsonl", queries)?;
        write("qrels.tsv", qrels)?;
        Collection::read(temp.path(), None)
    }

    #[test]
    fn a_collection_is_read_and_queries_without_relevant_documents_are_left_out() {
        let collection = read(CORPUS, QUERIES, QRELS).unwrap();
        assert_eq!(collection.documents.len(), 1);
        assert_eq!(collection.queries["7"], "words?");
        let judged: Vec<&str> = collection.judgments.judged().map(|(query, _)| query).collect();
        assert_eq!(judged, ["7"]);
        assert!(read(CORPUS, QUERIES, "7 0 d1 2.0\n").is_ok(), "the four columns of TREC");
    }

    #[test]
    fn a_malformed_collection_is_refused_with_file_and_line() {
        let check = |corpus: &str, queries: &str, qrels: &str, wanted: &str| {
            let Err(error) = read(corpus, queries, qrels) else { panic!("{wanted}: accepted") };
            assert!(format!("{error:#}").contains(wanted), "{error:#}");
        };
        check(&format!("{CORPUS}{{\"title\": 1}}"), QUERIES, QRELS, "corpus.jsonl:2");
        check(&format!("{CORPUS}{CORPUS}"), QUERIES, QRELS, "second time");
        check(CORPUS, "nonsense", QRELS, "queries.jsonl:1");
        check(CORPUS, QUERIES, "a\tb\tc\nq\td\tx\n", "qrels.tsv:2");
        check(CORPUS, QUERIES, "one column\n", "qrels.tsv:1");
        check(CORPUS, QUERIES, "7\td1\t0\n", "no query with a relevant document");
        check("", QUERIES, QRELS, "holds no documents");
        assert!(Collection::read(Path::new("/nonexistent"), None).is_err());
    }
}
