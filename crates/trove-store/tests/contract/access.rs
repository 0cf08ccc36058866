//! What of the access of a document no port can bring about yet.

use trove_domain::access::{AclTag, DocumentAccess};
use trove_domain::cc_pair::AccessType;
use trove_domain::document::DocumentAttributes;
use trove_domain::id::UserId;
use trove_domain::port::{AddressChange, UserChange};
use trove_testkit::builders::document_id;
use trove_testkit::stores::{at, new_job};

use crate::database::{Database, Place, postgres, sqlite};

async fn attributes<D>(database: &Database<D>, id: &str) -> DocumentAttributes {
    let known = database.documents.attributes(&[document_id(id)]).await.unwrap();
    known.into_iter().next().flatten().unwrap().attributes
}

async fn the_owner_of_the_credential_reads_private_documents<D: Place>(database: &Database<D>) {
    let ann = database.user("Ann.O'Hara@Example.com").await;
    let group = database.group("g", &[]).await;
    let private = database.pair("private", AccessType::Private, &[group]).await;
    let sync = database.pair("sync", AccessType::Sync, &[group]).await;
    database.register(private, &["private"]).await;
    database.register(sync, &["sync"]).await;
    let insert = format!(
        "INSERT INTO credential (id, source, owner_id, created_at, updated_at)
         SELECT 7, 'file', id, created_at, updated_at FROM user_account WHERE id = '{ann}';
         UPDATE cc_pair SET credential_id = 7 WHERE id IN ({private}, {sync});"
    );
    database.place.execute(&insert).await;
    let owner = AclTag::user_email("ann.o'hara@example.com");
    let expected = DocumentAccess::restricted_to([owner, AclTag::group(group)]);
    assert_eq!(attributes(database, "private").await.access, expected);
    let nobody = DocumentAccess::restricted_to([]);
    assert_eq!(attributes(database, "sync").await.access, nobody);
}

/// A pair with a document that only the owner of the credential reads, which the index knows.
async fn owned_pair<D: Place>(database: &Database<D>, owner: UserId) {
    let private = database.pair("private", AccessType::Private, &[]).await;
    database.index(private, &["private"]).await;
    let insert = format!(
        "INSERT INTO credential (id, source, owner_id, created_at, updated_at)
         SELECT 7, 'file', id, created_at, updated_at FROM user_account WHERE id = '{owner}';
         UPDATE cc_pair SET credential_id = 7 WHERE id = {private};"
    );
    database.place.execute(&insert).await;
    assert_eq!(database.dirty().await, [""; 0]);
}

/// Otherwise whoever gets the address next would read them.
async fn documents_of_a_removed_owner_are_nobodys<D: Place>(database: &Database<D>) {
    let ann = database.user("ann@example.com").await;
    owned_pair(database, ann).await;
    assert!(database.set_active(ann, false, at(1)).await.unwrap());
    let job = new_job("sync", "sync");
    assert_eq!(database.users.remove(ann, at(1), job).await.unwrap(), UserChange::Done);
    assert_eq!(database.dirty().await, ["private"]);
    assert!(database.claim("sync", at(1)).await.is_some());
    assert_eq!(attributes(database, "private").await.access, DocumentAccess::restricted_to([]));
}

/// Otherwise the owner would lose them, and whoever gets the old address would read them.
async fn documents_of_an_owner_follow_to_its_new_address<D: Place>(database: &Database<D>) {
    let ann = database.user("ann@example.com").await;
    owned_pair(database, ann).await;
    let job = new_job("sync", "sync");
    let moved = database.users.set_email(ann, "eve@example.com", false, at(1), job).await;
    assert_eq!(moved.unwrap(), AddressChange::Done);
    assert_eq!(database.dirty().await, ["private"]);
    assert!(database.claim("sync", at(1)).await.is_some());
    let owner = AclTag::user_email("eve@example.com");
    assert_eq!(
        attributes(database, "private").await.access,
        DocumentAccess::restricted_to([owner])
    );
}

async fn a_pair_that_is_being_deleted_contributes_nothing<D: Place>(database: &Database<D>) {
    let group = database.group("g", &[]).await;
    let public = database.pair("public", AccessType::Public, &[]).await;
    let private = database.pair("private", AccessType::Private, &[group]).await;
    database.register(public, &["both", "public"]).await;
    database.register(private, &["both"]).await;
    let delete = format!("UPDATE cc_pair SET status = 'DELETING' WHERE id = {public}");
    database.place.execute(&delete).await;
    let expected = DocumentAccess::restricted_to([AclTag::group(group)]);
    assert_eq!(attributes(database, "both").await.access, expected);
    assert_eq!(attributes(database, "public").await.access, DocumentAccess::restricted_to([]));
}

async fn boost_and_hidden_survive_a_registration<D: Place>(database: &Database<D>) {
    let pair = database.pair("files", AccessType::Public, &[]).await;
    database.index(pair, &["a"]).await;
    database.place.execute("UPDATE document SET boost = -3, hidden = true WHERE id = 'a'").await;
    database.index(pair, &["a"]).await;
    let attributes = attributes(database, "a").await;
    assert_eq!((attributes.boost, attributes.hidden), (-3, true));
}

macro_rules! on_both {
    ($($case:ident),+ $(,)?) => {
        mod on_sqlite {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $case() {
                super::$case(&super::sqlite().await.unwrap()).await;
            })+
        }

        mod on_postgres {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $case() {
                let Some(database) = super::postgres().await else { return };
                super::$case(&database).await;
            })+
        }
    };
}

on_both!(
    the_owner_of_the_credential_reads_private_documents,
    documents_of_a_removed_owner_are_nobodys,
    documents_of_an_owner_follow_to_its_new_address,
    a_pair_that_is_being_deleted_contributes_nothing,
    boost_and_hidden_survive_a_registration,
);
