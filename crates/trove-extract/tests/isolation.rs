//! Extraction in other processes: the same answers, and nothing that they do ends this one.

#![expect(clippy::unwrap_used, reason = "a file that cannot be made fails the test")]

use std::io::Write;
use std::time::Duration;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use trove_domain::port::{ExtractError, Resource, TextExtractor};
use trove_extract::{Budget, IsolatedExtractor, WorkerProgram};

fn worker() -> WorkerProgram {
    let path = env!("CARGO_BIN_EXE_trove-extract-worker").into();
    WorkerProgram { path, arguments: Vec::new() }
}

/// A worker that does what a shell is told.
fn shell(script: &str) -> WorkerProgram {
    WorkerProgram { path: "/bin/sh".into(), arguments: vec!["-c".into(), script.into()] }
}

mod contract {
    use trove_extract::{Budget, IsolatedExtractor};

    trove_testkit::text_extractor_contract!(async {
        let budget = Budget { chars: 1_000_000, ..Budget::default() };
        Some(Box::new(IsolatedExtractor::new(super::worker(), budget, 2)))
    });
}

const RTF: &[u8] = b"{\\rtf1 some words}";

/// A document of one page, whose content is object 4, without a table of its objects.
fn page(resources: &str, objects: &[Vec<u8>]) -> Vec<u8> {
    let mut pdf = format!(
        "%PDF-1.7\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n\
         2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n\
         3 0 obj\n<< /Type /Page /Parent 2 0 R {resources} /Contents 4 0 R >>\nendobj\n"
    )
    .into_bytes();
    for (number, object) in (4..).zip(objects) {
        pdf.extend(format!("{number} 0 obj\n").bytes());
        pdf.extend(object);
        pdf.extend(b"\nendobj\n");
    }
    pdf.extend(b"trailer << /Root 1 0 R >>\n%%EOF");
    pdf
}

fn stream(entries: &str, content: &[u8]) -> Vec<u8> {
    let head = format!("<< {entries} /Length {} >>\nstream\n", content.len());
    [head.as_bytes(), content, b"\nendstream"].concat()
}

/// A page whose content is 200 million blanks.
fn memory_bomb() -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    let blanks = vec![b' '; 1_000_000];
    for _ in 0..200 {
        encoder.write_all(&blanks).unwrap();
    }
    page("", &[stream("/Filter /FlateDecode", &encoder.finish().unwrap())])
}

/// A page that draws a form a hundred times, which draws another a hundred times, and so on.
fn time_bomb() -> Vec<u8> {
    let resources = |next: usize| format!("/Resources << /XObject << /X {next} 0 R >> >>");
    let content = "/X Do ".repeat(100).into_bytes();
    let mut objects = vec![stream("", &content)];
    for next in 6..14 {
        let form = format!("/Type /XObject /Subtype /Form /BBox [0 0 9 9] {}", resources(next));
        objects.push(stream(&form, &content));
    }
    page(&resources(5), &objects)
}

#[test]
fn memory_is_bounded_and_the_next_file_is_read() {
    let budget = Budget { memory: 64 * 1024 * 1024, ..Budget::default() };
    let extractor = IsolatedExtractor::new(worker(), budget, 1);
    let error = ExtractError::OutOfBudget { resource: Resource::Memory, limit: budget.memory };
    assert_eq!(extractor.extract("a.pdf", &memory_bomb()), Err(error));
    assert_eq!(extractor.extract("a.rtf", RTF).unwrap().sections[0].text, "some words");
}

#[test]
fn a_worker_that_does_not_answer_is_ended() {
    let budget = Budget { time: Duration::from_millis(1), ..Budget::default() };
    // One reads nothing, so that a large request does not fit into the pipe.
    for script in ["exec tail -f /dev/null", "read -r line; exec tail -f /dev/null"] {
        let extractor = IsolatedExtractor::new(shell(script), budget, 1);
        let mut large = RTF.to_vec();
        large.resize(1_000_000, b' ');
        let error = ExtractError::TimedOut { after: budget.time };
        assert_eq!(extractor.extract("a.rtf", &large), Err(error), "{script}");
    }
}

#[test]
fn a_worker_that_ends_or_lies_is_an_error_of_the_file() {
    for script in
        ["exit 0", "kill -9 $$", "echo no answer", "head -c 100 /dev/zero", "kill -SEGV $$"]
    {
        let extractor = IsolatedExtractor::new(shell(script), Budget::default(), 1);
        let answer = extractor.extract("a.rtf", RTF);
        assert!(matches!(answer, Err(ExtractError::Crashed { .. })), "{script}: {answer:?}");
    }
    let overflow = "echo 'thread main has overflowed its stack' >&2; kill -ABRT $$";
    let extractor = IsolatedExtractor::new(shell(overflow), Budget::default(), 1);
    let error = ExtractError::Crashed { detail: "its reader used up the stack".to_owned() };
    assert_eq!(extractor.extract("a.rtf", RTF), Err(error));
}

#[test]
fn without_a_program_only_text_is_read() {
    let program = WorkerProgram { path: "/no/such/program".into(), arguments: Vec::new() };
    let extractor = IsolatedExtractor::new(program, Budget::default(), 1);
    let answer = extractor.extract("a.rtf", RTF);
    assert!(matches!(answer, Err(ExtractError::Unavailable { .. })), "{answer:?}");
    assert_eq!(extractor.extract("a.txt", b"words").unwrap().sections[0].text, "words");
}

/// What a parser makes of messages in one another is taken apart by recursion.
#[test]
fn a_stack_that_overflows_is_not_ours() {
    let extractor = IsolatedExtractor::new(worker(), Budget::default(), 1);
    let message = "Content-Type: message/rfc822\r\n\r\n".repeat(100_000) + "words";
    let answer = extractor.extract("a.eml", message.as_bytes());
    assert!(answer.is_err(), "{answer:?}");
    assert_eq!(extractor.extract("a.rtf", RTF).unwrap().sections[0].text, "some words");
}

/// A processor that a small file keeps busy is given to others again.
#[test]
fn a_small_file_may_not_take_long() {
    let budget = Budget { small_file_time: Duration::from_secs(1), ..Budget::default() };
    let extractor = IsolatedExtractor::new(worker(), budget, 1);
    let error = ExtractError::TimedOut { after: Duration::from_secs(1) };
    assert_eq!(extractor.extract("a.pdf", &time_bomb()), Err(error));
}

#[test]
fn many_callers_share_a_few_workers() {
    let extractor = IsolatedExtractor::new(worker(), Budget::default(), 2);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..5 {
                    let text = extractor.extract("a.rtf", RTF).unwrap();
                    assert_eq!(text.sections[0].text, "some words");
                }
            });
        }
    });
}

#[test]
fn a_file_is_read_by_its_relative_path() {
    let folder = tempfile::tempdir_in(".").unwrap();
    let path = folder.path().join("ä b.rtf");
    std::fs::write(&path, RTF).unwrap();
    let extractor = IsolatedExtractor::new(worker(), Budget::default(), 1);
    let path = path.strip_prefix(std::env::current_dir().unwrap()).unwrap_or(&path);
    assert_eq!(extractor.extract_file("a.rtf", path).unwrap().sections[0].text, "some words");
}
