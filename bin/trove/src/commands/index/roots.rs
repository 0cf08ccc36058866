//! `trove index --list` and `trove index --remove`: what was indexed, and how it leaves again.

use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::{Value, json};
use trove_domain::cc_pair::CcPair;
use trove_domain::id::DocumentId;
use trove_domain::source::DocumentSource;
use trove_engine::Engine;

use super::remove::{below, is_below};
use crate::cli::IndexArgs;
use crate::commands::{print, print_json, printable, table};
use crate::config::Config;
use crate::data_dir::DataDir;
use crate::failure::{Failure, SUCCESS};
use crate::wiring::Deployment;

/// Pairs that are read at a time.
const PAGE: u32 = 500;
/// Names in an error message.
const NAMES_MAX: usize = 20;

/// Prints the pairs of files and how many documents each holds.
pub(super) async fn list(config: &Config, as_json: bool) -> Result<u8, Failure> {
    let deployment = Deployment::open_database(config).await?;
    let listed = counted(&deployment.engine).await;
    deployment.close().await?;
    let listed = listed?;
    if as_json {
        let entry = |(pair, documents): &(CcPair, usize)| json!({ "name": pair.name, "cc_pair": pair.id.0, "documents": documents });
        print_json(&Value::Array(listed.iter().map(entry).collect()))?;
        return Ok(SUCCESS);
    }
    let rows: Vec<[String; 3]> = listed
        .into_iter()
        .map(|(pair, documents)| [pair.id.to_string(), documents.to_string(), pair.name])
        .collect();
    print(&table(["PAIR", "DOCUMENTS", "NAME"], &rows))?;
    Ok(SUCCESS)
}

async fn counted(engine: &Engine) -> anyhow::Result<Vec<(CcPair, usize)>> {
    let mut counted = Vec::new();
    for pair in known(engine).await? {
        let documents = below(engine, pair.id, |_| true).await?.len();
        counted.push((pair, documents));
    }
    Ok(counted)
}

/// What a call wants removed.
struct Wanted {
    pair: CcPair,
    /// Only documents below these; all, and the pair itself, when there are none.
    paths: Vec<PathBuf>,
}

/// What was removed.
struct Removed {
    pair: CcPair,
    documents: usize,
    whole: bool,
}

/// Removes pairs with their documents.
pub(super) async fn remove(config: &Config, args: &IndexArgs) -> Result<u8, Failure> {
    if args.paths.is_empty() && args.name.is_none() {
        return Err(Failure::usage("--remove needs a PATH, or a --name"));
    }
    // Before the index is opened, which would make one.
    let deployment = Deployment::open_database(config).await?;
    let known = known(&deployment.engine).await;
    deployment.close().await?;
    let wanted = wanted(args, &known?).map_err(Failure::usage)?;

    let _data_dir = DataDir::open(&config.data_dir, "trove index")?;
    let deployment = Deployment::open(config).await?;
    let removed = remove_all(&deployment.engine, wanted).await;
    deployment.close().await?;
    let removed = removed?;
    if args.json {
        let entry = |removed: &Removed| {
            json!({
                "name": removed.pair.name,
                "cc_pair": removed.pair.id.0,
                "documents": removed.documents,
                "pair_removed": removed.whole,
            })
        };
        print_json(&json!({ "removed": removed.iter().map(entry).collect::<Vec<_>>() }))?;
        return Ok(SUCCESS);
    }
    for Removed { pair, documents, whole } in &removed {
        let name = printable(&pair.name);
        let and_pair = if *whole { " and the pair itself" } else { "" };
        print(&format!("{name} (pair {}): {documents} documents removed{and_pair}\n", pair.id))?;
    }
    Ok(SUCCESS)
}

async fn remove_all(engine: &Engine, wanted: Vec<Wanted>) -> anyhow::Result<Vec<Removed>> {
    // What an interrupted run left undone comes first, so that the count is right.
    engine.sync_documents().await.context("earlier work could not be finished")?;
    let mut removed = Vec::new();
    for Wanted { pair, paths } in wanted {
        let all = below(engine, pair.id, |_| true).await?;
        let is_wanted = |id: &&DocumentId| paths.is_empty() || is_below(id, &paths);
        let gone: Vec<DocumentId> = all.iter().filter(is_wanted).cloned().collect();
        let whole = paths.is_empty() || (!gone.is_empty() && gone.len() == all.len());
        if whole {
            engine.remove_pair(pair.id).await.context("the pair cannot be removed")?;
            let synced = engine.sync_documents().await;
            synced.context("the documents are not removed yet; the next start goes on with it")?;
        } else {
            let removal = engine.remove_from_pair(pair.id, &gone).await;
            removal.context("the documents cannot be removed")?;
        }
        removed.push(Removed { pair, documents: gone.len(), whole });
    }
    Ok(removed)
}

/// All pairs that `trove index` made.
async fn known(engine: &Engine) -> anyhow::Result<Vec<CcPair>> {
    let mut known = Vec::new();
    let mut after = None;
    loop {
        let page = engine.backends().cc_pairs.list(after, PAGE).await;
        let page = page.context("the indexed paths cannot be listed")?;
        let Some(last) = page.last() else { return Ok(known) };
        after = Some(last.id);
        known.extend(page.into_iter().filter(|pair| pair.source == DocumentSource::File));
    }
}

fn wanted(args: &IndexArgs, known: &[CcPair]) -> Result<Vec<Wanted>, String> {
    if let Some(name) = &args.name {
        let pair = known.iter().find(|pair| pair.name == *name);
        let pair = pair.ok_or_else(|| unknown(name, known))?.clone();
        let paths = args.paths.iter().flat_map(|path| spellings(path)).collect();
        return Ok(vec![Wanted { pair, paths }]);
    }
    let mut wanted: Vec<Wanted> = Vec::new();
    for path in &args.paths {
        let names: Vec<String> =
            spellings(path).iter().map(|path| path.display().to_string()).collect();
        let pair = known.iter().find(|pair| names.contains(&pair.name));
        let pair = pair.ok_or_else(|| unknown(&path.display().to_string(), known))?;
        if !wanted.iter().any(|wanted| wanted.pair.id == pair.id) {
            wanted.push(Wanted { pair: pair.clone(), paths: Vec::new() });
        }
    }
    Ok(wanted)
}

/// The absolute paths that `path` may have been indexed by. It need not be there any more, so
/// symbolic links are resolved in as much of it as is.
fn spellings(path: &Path) -> Vec<PathBuf> {
    let Ok(absolute) = std::path::absolute(path) else { return vec![path.to_owned()] };
    // Without a slash at the end.
    let absolute: PathBuf = absolute.components().collect();
    let resolved = absolute.ancestors().find_map(|there| {
        let rest = absolute.strip_prefix(there).ok()?;
        Some(there.canonicalize().ok()?.join(rest).components().collect())
    });
    resolved.into_iter().chain([absolute.clone()]).collect()
}

fn unknown(name: &str, known: &[CcPair]) -> String {
    let name = printable(name);
    if known.is_empty() {
        return format!("{name} was not indexed, nor was any other path");
    }
    let names = known.iter().take(NAMES_MAX).map(|pair| printable(&pair.name).into_owned());
    let more = match known.len().saturating_sub(NAMES_MAX) {
        0 => String::new(),
        more => format!(" and {more} more (`trove index --list`)"),
    };
    format!(
        "{name} was not indexed as a PATH of its own or by that name; these were: {}{more}",
        names.collect::<Vec<_>>().join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::spellings;

    #[test]
    fn a_path_that_is_gone_is_resolved_as_far_as_it_is_there() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("real")).unwrap();
        std::os::unix::fs::symlink(root.join("real"), root.join("link")).unwrap();
        let found = spellings(&root.join("link/gone/docs/"));
        assert_eq!(found, [root.join("real/gone/docs"), root.join("link/gone/docs")]);
    }
}
