//! Rules about the source: which way dependencies point, what has a suite, what no file says.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What talks to the outside, drives it, or serialises for it.
const CLIENTS_AND_FRAMEWORKS: &[&str] = &[
    "actix-http",
    "actix-web",
    "async-openai",
    "axum",
    "clap",
    "diesel",
    "diesel-async",
    "figment",
    "hyper",
    "indicatif",
    "libsqlite3-sys",
    "object_store",
    "qdrant-client",
    "qdrant-edge",
    "reqwest",
    "rustls",
    "serde_derive",
    "tantivy",
    "tokenizers",
    "tokio",
    "tokio-postgres",
    "tonic",
    "utoipa",
];

const ADAPTERS: &[&str] = &[
    "trove-audit",
    "trove-embedded",
    "trove-extract",
    "trove-files",
    "trove-local",
    "trove-openai",
    "trove-qdrant",
    "trove-secrets",
    "trove-sources",
    "trove-store",
];

/// Ports without a suite, and why.
const WITHOUT_SUITE: &[(&str, &str)] = &[
    ("clock", "one reading of the machine's clock; everything else takes a clock that is set"),
    ("ids", "random by contract, so there is nothing to compare but that two differ"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// What a crate needs to be used, itself included.
fn closure(package: &str) -> BTreeSet<String> {
    let mut command = Command::new(env!("CARGO"));
    // Whatever runs the tests may tell its cargo to unify features; here every crate stands alone.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name.trim_start_matches('_').starts_with("CARGO_") && name != "CARGO_HOME" {
            command.env_remove(name);
        }
    }
    let output = command
        .current_dir(root())
        .args(["tree", "--offline", "--locked", "--edges", "normal", "--prefix", "none"])
        .args(["--format", "{p}", "--package", package])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).unwrap();
    let names = tree.lines().filter_map(|line| line.split(' ').next());
    let names: BTreeSet<String> = names.filter(|n| !n.is_empty()).map(str::to_owned).collect();
    assert!(names.contains(package));
    names
}

fn assert_free_of(package: &str, forbidden: &[&[&str]]) {
    let closure = closure(package);
    let found: Vec<&&str> =
        forbidden.iter().copied().flatten().filter(|name| closure.contains(**name)).collect();
    assert!(found.is_empty(), "{package} must not depend on {found:?}");
}

#[test]
fn the_domain_knows_no_client_no_runtime_and_no_framework() {
    assert_free_of("trove-domain", &[CLIENTS_AND_FRAMEWORKS, ADAPTERS, &["trove-engine"]]);
}

#[test]
fn the_engine_knows_no_adapter_and_no_framework() {
    let runtime_is_fine: Vec<&str> = CLIENTS_AND_FRAMEWORKS
        .iter()
        .copied()
        .filter(|name| !matches!(*name, "tokio" | "serde_derive"))
        .collect();
    assert_free_of("trove-engine", &[&runtime_is_fine, ADAPTERS, &["trove-http"]]);
}

#[test]
fn the_interface_knows_no_adapter() {
    let databases =
        ["diesel", "libsqlite3-sys", "qdrant-client", "qdrant-edge", "tantivy", "tokio-postgres"];
    assert_free_of("trove-http", &[ADAPTERS, &databases]);
}

#[test]
fn adapters_know_neither_each_other_nor_what_uses_them() {
    for adapter in ADAPTERS {
        let others: Vec<&str> = ADAPTERS.iter().copied().filter(|other| other != adapter).collect();
        assert_free_of(adapter, &[&others, &["trove-engine", "trove-http", "trove"]]);
    }
}

#[test]
fn every_port_has_a_suite_that_an_adapter_runs() {
    let sources: String = rust_files().iter().map(|path| read(path)).collect();
    for entry in fs::read_dir(root().join("crates/trove-domain/src/port")).unwrap() {
        let path = entry.unwrap().path();
        let port = path.file_stem().unwrap().to_string_lossy().into_owned();
        if WITHOUT_SUITE.iter().any(|(name, reason)| *name == port && !reason.is_empty()) {
            continue;
        }
        let suite = root().join(format!("crates/trove-testkit/src/{port}.rs"));
        assert!(suite.exists(), "the port {port} has no suite {}", suite.display());
        let runs = format!("trove_testkit::{port}_contract!");
        assert!(sources.contains(&runs), "nothing runs {runs}(..)");
    }
}

/// Neither a path of the machine that a file was written on, nor talk about its writing.
#[test]
fn no_file_speaks_of_how_it_was_made() {
    // Put together here, so that this file does not hold them.
    let forbidden =
        [["/work", "/main"].concat(), ["/work", "/shared"].concat(), ["../sha", "red/"].concat()];
    for path in tracked_files() {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        for words in &forbidden {
            assert!(!text.contains(words), "{} says {words}", path.display());
        }
    }
}

fn rust_files() -> Vec<PathBuf> {
    let is_rust = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "rs");
    tracked_files().into_iter().filter(is_rust).collect()
}

/// Files that git knows or would add; everything that is not ignored where there is no git.
fn tracked_files() -> Vec<PathBuf> {
    let files: Vec<PathBuf> = ignore::WalkBuilder::new(root())
        .hidden(false)
        .require_git(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build()
        .map(Result::unwrap)
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .map(ignore::DirEntry::into_path)
        .collect();
    assert!(files.len() > 100, "the source is here");
    files
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}
