//! That an index and a database belong together.
//!
//! The index of a data directory holds the documents of one registry, and the documents of a
//! registry are in one index. Anything else would find documents that the registry does not know,
//! under groups that are others there, or miss half of them. The directory names the registry in a
//! file, the registry names the directory in a row. A collection on a Qdrant server has an id of its
//! own and names the registry in its metadata.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;
use trove_domain::port::DocumentIndex;
use trove_qdrant::QdrantDocumentIndex;
use trove_store::Store;
use uuid::Uuid;

const FILE: &str = "identity.json";

/// Contents of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Identity {
    /// The directory.
    data_dir: Uuid,
    /// The registry whose documents its index holds.
    registry: Uuid,
}

/// Makes sure that the index of `data_dir` is the one of `store`, and marks both as belonging
/// together when neither belongs to another. `new` becomes the id of the directory if it has none.
///
/// # Errors
///
/// A sentence that says which of the two belongs elsewhere, and what to do.
pub(super) async fn bind(data_dir: &Path, store: &Store, new: Uuid) -> anyhow::Result<()> {
    let identity = of_directory(data_dir, store, new).await?;
    let holder = store.claim_index(identity.data_dir).await.context(CONTEXT)?;
    ensure!(
        holder == identity.data_dir,
        "the documents of this database are in the index of another data directory ({holder}), \
         and would be missing in {} ({}): start Trove with that directory; if it is lost, \
         `trove adopt-database` makes this one its successor",
        data_dir.display(),
        identity.data_dir
    );
    Ok(())
}

/// Makes `data_dir` the one whose index holds the documents of `store`, whichever did before.
///
/// # Errors
///
/// As [`bind`]; nothing changes when the directory belongs to another database.
pub(super) async fn adopt(
    data_dir: &Path,
    store: &Store,
    new: Uuid,
    index: &dyn DocumentIndex,
) -> anyhow::Result<()> {
    let identity = of_directory(data_dir, store, new).await?;
    let what = format!("the index in {}", data_dir.display());
    succeed(store, identity.data_dir, index, &what, "move its folder `index` away").await?;
    bind(data_dir, store, new).await
}

/// Lets go of the index that the database names, so that the one called `id` can take its place.
/// It must be empty: what it holds may have been changed, hidden or removed since, and nobody would
/// know.
async fn succeed(
    store: &Store,
    id: Uuid,
    index: &dyn DocumentIndex,
    what: &str,
    remedy: &str,
) -> anyhow::Result<()> {
    if store.claim_index(id).await.context(CONTEXT)? == id {
        return Ok(());
    }
    let documents = index.statistics().await.context("the index cannot be read")?.documents;
    ensure!(
        documents == 0,
        "{what} holds {documents} documents of an earlier time, which may have been changed or \
         removed since: {remedy}, run `trove adopt-database` again, and index the documents anew"
    );
    store.release_index().await.context(CONTEXT)
}

/// Makes sure that the collection behind `index` is the one of `store`, and marks both as belonging
/// together when neither belongs to another.
///
/// # Errors
///
/// As [`bind`].
pub(super) async fn bind_qdrant(
    index: &QdrantDocumentIndex,
    collection: &str,
    store: &Store,
) -> anyhow::Result<()> {
    own_qdrant(index, collection, store).await?;
    let holder = store.claim_index(index.id()).await.context(CONTEXT)?;
    ensure!(
        holder == index.id(),
        "the documents of this database are in another index ({holder}), and would be missing in \
         the Qdrant collection `{collection}` ({}): start Trove with that index; if it is lost or \
         given up, `trove adopt-database` makes this one its successor",
        index.id()
    );
    Ok(())
}

/// Makes the collection behind `index` the one that holds the documents of `store`, whichever did
/// before.
///
/// # Errors
///
/// As [`bind_qdrant`]; nothing changes when the collection belongs to another database.
pub(super) async fn adopt_qdrant(
    index: &QdrantDocumentIndex,
    collection: &str,
    store: &Store,
) -> anyhow::Result<()> {
    own_qdrant(index, collection, store).await?;
    let what = format!("the Qdrant collection `{collection}`");
    let remedy = "remove it, or name another one in `qdrant.collection`";
    succeed(store, index.id(), index, &what, remedy).await?;
    bind_qdrant(index, collection, store).await
}

async fn own_qdrant(
    index: &QdrantDocumentIndex,
    collection: &str,
    store: &Store,
) -> anyhow::Result<()> {
    let registry = store.registry_id().await.context(CONTEXT)?;
    let Some(owner) = index.registry() else {
        let told = index.set_registry(registry).await;
        return told.context("the Qdrant collection cannot be marked as the database's");
    };
    ensure!(
        owner == registry,
        "the Qdrant collection `{collection}` belongs to another database (registry {owner}) than \
         the one that is configured (registry {registry}). Check `database.url` and \
         `qdrant.collection`"
    );
    Ok(())
}

const CONTEXT: &str = "the database cannot be compared with the index";

/// The identity of the directory, made if it has none; refused when it is of another registry.
async fn of_directory(data_dir: &Path, store: &Store, new: Uuid) -> anyhow::Result<Identity> {
    let registry = store.registry_id().await.context(CONTEXT)?;
    let path = data_dir.join(FILE);
    let Some(identity) = read(&path)? else {
        let identity = Identity { data_dir: new, registry };
        write(&path, identity).with_context(|| format!("{} cannot be written", path.display()))?;
        return Ok(identity);
    };
    ensure!(
        identity.registry == registry,
        "the index in {} belongs to another database (registry {}) than the one that is \
         configured (registry {registry}). Check `database.url`, or restore the database from a \
         backup; to begin anew, move {FILE}, admin-key and the folder `index` away",
        data_dir.display(),
        identity.registry
    );
    Ok(identity)
}

fn read(path: &PathBuf) -> anyhow::Result<Option<Identity>> {
    match fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).with_context(|| {
            format!(
                "{} is damaged; if you know that the index belongs to the database, remove it",
                path.display()
            )
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("{} cannot be read", path.display())),
    }
}

/// Durably and as a whole: the registry is told only of a directory that remembers its name.
fn write(path: &Path, identity: Identity) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let mut file = NamedTempFile::new_in(directory)?;
    file.write_all(&serde_json::to_vec(&identity)?)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    fs::File::open(directory)?.sync_all()
}
