//! Losing the process in the middle of writing.
//!
//! The test runs itself again as the process that is lost: the child writes and prints what was
//! acknowledged, the parent kills it after some of that and looks at what is left.
#![expect(clippy::unwrap_used, reason = "failing is panicking here")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;
use trove_domain::port::DocumentIndex;
use trove_embedded::{EmbeddedDocumentIndex, EmbeddedIndexConfig};
use trove_testkit::builders::{document, query};

const DIMENSIONS: Option<usize> = Some(8);
const DOCUMENTS: i64 = 7;
const CHUNKS: usize = 3;
/// Set for the child: the directory to write to.
const DIRECTORY: &str = "TROVE_EMBEDDED_TEST_DIRECTORY";

fn open(directory: &Path) -> EmbeddedDocumentIndex {
    let config = EmbeddedIndexConfig::with_dimensions(DIMENSIONS);
    EmbeddedDocumentIndex::open(directory, config).unwrap()
}

/// Writes version after version of a few documents until it is killed.
async fn write_until_killed(directory: &Path) {
    let index = open(directory);
    let begin = index.statistics().await.unwrap().chunks;
    assert_eq!(begin % u64::try_from(CHUNKS).unwrap(), 0);
    for revision in 0..i64::MAX {
        let id = format!("document{}", revision % DOCUMENTS);
        let text = format!("zebra version{revision}");
        let texts = [text.as_str(); CHUNKS];
        let version = document(&id).revision(revision).texts(&texts).near(DIMENSIONS, 1.0);
        index.replace(vec![version.build()]).await.unwrap();
        println!("acknowledged {revision}");
        std::io::stdout().flush().unwrap();
    }
}

#[tokio::test]
async fn what_was_acknowledged_survives_and_nothing_is_half() {
    #[expect(clippy::disallowed_methods, reason = "tells the child process from the parent")]
    let child_of = std::env::var_os(DIRECTORY).map(PathBuf::from);
    if let Some(directory) = child_of {
        return write_until_killed(&directory).await;
    }
    for round in 0..6 {
        let directory = TempDir::new().unwrap();
        let acknowledged = kill_after(directory.path(), 20 + round * 17);
        let index = open(directory.path());
        // By words and by vectors: both halves are of the same version.
        for alpha in [0.0, 1.0] {
            let all = query("zebra").near(DIMENSIONS, 0.0).alpha(alpha).limit(1000).build();
            let mut versions: BTreeMap<String, Vec<i64>> = BTreeMap::new();
            for hit in index.search(&all).await.unwrap() {
                let version = hit.chunk.text.rsplit("version").next().unwrap().parse().unwrap();
                versions.entry(hit.chunk.id.document.into_string()).or_default().push(version);
            }
            for (id, versions) in &versions {
                assert_eq!(versions, &[versions[0]; CHUNKS], "{id}: half of a version");
            }
            for revision in acknowledged - DOCUMENTS + 1..=acknowledged {
                let versions = &versions[&format!("document{}", revision % DOCUMENTS)];
                assert!(versions[0] >= revision, "{revision} was acknowledged and is lost");
            }
        }
    }
}

/// Runs this test as a child, kills it after `count` acknowledgements and returns the last of them.
fn kill_after(directory: &Path, count: i64) -> i64 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["what_was_acknowledged_survives", "--nocapture"])
        .env(DIRECTORY, directory)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut acknowledged = None;
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        if let Some((_, revision)) = line.split_once("acknowledged ") {
            let revision: i64 = revision.parse().unwrap();
            acknowledged = Some(revision);
            if revision == count {
                // SIGKILL; what it prints until then counts too.
                child.kill().unwrap();
            }
        }
    }
    child.wait().unwrap();
    acknowledged.filter(|last| *last >= count).unwrap()
}
