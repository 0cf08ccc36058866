//! What the index must say of a document: its row, and what its pairs add.

use std::collections::{BTreeSet, HashMap};

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use trove_domain::access::{AclTag, DocumentAccess};
use trove_domain::cc_pair::{AccessType, CcPairStatus};
use trove_domain::document::DocumentAttributes;
use trove_domain::error::StoreError;
use trove_domain::external_access::ExternalAccess;
use trove_domain::id::{CcPairId, DocumentId, DocumentSetId, GroupId};
use trove_domain::port::RegisteredAttributes;

use super::rows::{DocumentRow, metadata, owners};
use super::{present, texts};
use crate::Store;
use crate::backend::read;
use crate::error::{Failure, corrupt, failed};
use crate::external::StoredAccess;
use crate::schema::{
    cc_pair, cc_pair_group, credential, document, document_cc_pair, document_set_cc_pair,
    external_access, user_account,
};

/// What a pair adds to its documents.
#[derive(Default)]
struct PairAttributes {
    public: bool,
    /// Whether its source says who may read.
    synced: bool,
    tags: BTreeSet<AclTag>,
    document_sets: BTreeSet<DocumentSetId>,
}

struct Rows {
    documents: Vec<DocumentRow>,
    links: Vec<(String, i32)>,
    /// Pair, access type, status, address of the credential's owner.
    pairs: Vec<(i32, String, String, Option<String>)>,
    groups: Vec<(i32, i32)>,
    sets: Vec<(i32, i32)>,
    external: Vec<StoredAccess>,
}

impl Store {
    pub(super) async fn attributes_of(
        &self,
        ids: &[DocumentId],
    ) -> Result<Vec<Option<RegisteredAttributes>>, StoreError> {
        let keys = texts(ids);
        // The revision is read before what may have changed it: attributes that are newer than
        // their revision are written again later, older ones would stay.
        let rows: Rows = read!(self, "document.attributes", |conn| {
            let documents: Vec<DocumentRow> = document::table
                .filter(document::id.eq_any(&keys))
                .filter(present!())
                .select(DocumentRow::as_select())
                .load(conn)
                .await?;
            let links: Vec<(String, i32)> = document_cc_pair::table
                .filter(document_cc_pair::document_id.eq_any(&keys))
                .select((document_cc_pair::document_id, document_cc_pair::cc_pair_id))
                .load(conn)
                .await?;
            let pair_ids: BTreeSet<i32> = links.iter().map(|(_, pair)| *pair).collect();
            let pair_ids: Vec<i32> = pair_ids.into_iter().collect();
            let pairs: Vec<(i32, String, String, Option<String>)> = cc_pair::table
                .inner_join(credential::table.left_join(user_account::table))
                .filter(cc_pair::id.eq_any(&pair_ids))
                .select((
                    cc_pair::id,
                    cc_pair::access_type,
                    cc_pair::status,
                    user_account::email.nullable(),
                ))
                .load(conn)
                .await?;
            let groups: Vec<(i32, i32)> = cc_pair_group::table
                .filter(cc_pair_group::cc_pair_id.eq_any(&pair_ids))
                .select((cc_pair_group::cc_pair_id, cc_pair_group::group_id))
                .load(conn)
                .await?;
            let sets: Vec<(i32, i32)> = document_set_cc_pair::table
                .filter(document_set_cc_pair::cc_pair_id.eq_any(&pair_ids))
                .select((document_set_cc_pair::cc_pair_id, document_set_cc_pair::document_set_id))
                .load(conn)
                .await?;
            let external: Vec<StoredAccess> = external_access::table
                .filter(external_access::document_id.eq_any(&keys))
                .load(conn)
                .await?;
            Ok(Rows { documents, links, pairs, groups, sets, external })
        })?;
        join(ids, rows).map_err(failed("document.attributes"))
    }
}

fn join(ids: &[DocumentId], rows: Rows) -> Result<Vec<Option<RegisteredAttributes>>, Failure> {
    let Rows { documents, links, pairs, groups, sets, external } = rows;
    let pairs = pair_attributes(pairs, &groups, &sets)?;
    let mut told: HashMap<String, Vec<(CcPairId, ExternalAccess)>> = HashMap::new();
    for row in external {
        let (document, pair, access) = crate::external::external_access(row)?;
        if pairs.get(&pair).is_some_and(|pair| pair.synced) {
            told.entry(document).or_default().push((CcPairId(pair), access));
        }
    }
    let mut pairs_of: HashMap<String, Vec<i32>> = HashMap::new();
    for (document, pair) in links {
        pairs_of.entry(document).or_default().push(pair);
    }
    let mut known = HashMap::with_capacity(documents.len());
    for row in documents {
        let own = pairs_of.get(&row.id).into_iter().flatten().filter_map(|pair| pairs.get(pair));
        let told = told.remove(&row.id).unwrap_or_default();
        let (id, registered) = attributes(row, own, &told)?;
        known.insert(id, registered);
    }
    Ok(ids.iter().map(|id| known.get(id.as_str()).cloned()).collect())
}

fn pair_attributes(
    pairs: Vec<(i32, String, String, Option<String>)>,
    groups: &[(i32, i32)],
    sets: &[(i32, i32)],
) -> Result<HashMap<i32, PairAttributes>, Failure> {
    let mut attributes = HashMap::with_capacity(pairs.len());
    for (id, access_type, status, owner) in pairs {
        let access_type: AccessType = access_type.parse().map_err(corrupt("cc pair", id))?;
        let status: CcPairStatus = status.parse().map_err(corrupt("cc pair", id))?;
        let mut pair = PairAttributes::default();
        if status != CcPairStatus::Deleting {
            let linked = |links: &[(i32, i32)]| {
                let own: Vec<i32> =
                    links.iter().filter(|link| link.0 == id).map(|link| link.1).collect();
                own
            };
            match access_type {
                AccessType::Public => pair.public = true,
                AccessType::Private => {
                    pair.tags.extend(linked(groups).into_iter().map(|g| AclTag::group(GroupId(g))));
                    pair.tags.extend(owner.map(|owner| AclTag::user_email(&owner)));
                }
                // The source says who may read, of each document by itself.
                AccessType::Sync => pair.synced = true,
            }
            pair.document_sets.extend(linked(sets).into_iter().map(DocumentSetId));
        }
        attributes.insert(id, pair);
    }
    Ok(attributes)
}

fn attributes<'a>(
    row: DocumentRow,
    pairs: impl Iterator<Item = &'a PairAttributes>,
    told: &[(CcPairId, ExternalAccess)],
) -> Result<(String, RegisteredAttributes), Failure> {
    let DocumentRow {
        id,
        source,
        semantic_identifier,
        link: _,
        metadata: metadata_json,
        updated_at,
        created_at,
        primary_owners,
        secondary_owners,
        from_ingestion_api: _,
        boost,
        hidden,
        revision,
        pending: _,
        content_hash: _,
        embedding_model: _,
        chunk_count: _,
    } = row;
    let mut access = DocumentAccess { public: false, tags: BTreeSet::new() };
    let mut document_sets = BTreeSet::new();
    for pair in pairs {
        access.public |= pair.public;
        access.tags.extend(pair.tags.iter().cloned());
        document_sets.extend(&pair.document_sets);
    }
    for (pair, told) in told {
        told.widen(*pair, &mut access);
    }
    let attributes = DocumentAttributes {
        semantic_identifier,
        source: source.parse().map_err(corrupt("document", &id))?,
        access,
        document_sets,
        hidden,
        boost,
        metadata: metadata(&metadata_json, &id)?,
        updated_at: updated_at.map(|at| at.0),
        created_at: created_at.map(|at| at.0),
        primary_owners: owners(&primary_owners, &id)?,
        secondary_owners: owners(&secondary_owners, &id)?,
    };
    Ok((id, RegisteredAttributes { revision, attributes }))
}
