use std::collections::BTreeSet;
use std::path::Path;

use diesel::QueryableByName;
use diesel::sql_types::Text;
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use tempfile::TempDir;
use trove_testkit::postgres::Schema;

use super::MIGRATIONS;
use crate::backend::Sqlite;

/// Named things of the tables that migrations make, one in a line.
type Lines = BTreeSet<String>;

#[derive(QueryableByName)]
struct Line {
    #[diesel(sql_type = Text)]
    line: String,
}

async fn sqlite() -> (TempDir, Sqlite) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trove.db");
    let connection = Sqlite::establish(path.to_str().unwrap()).await.unwrap();
    (directory, connection)
}

async fn postgres() -> Option<(Schema, AsyncPgConnection)> {
    let schema = Schema::create().await?;
    let connection = AsyncPgConnection::establish(&schema.url()).await.unwrap();
    Some((schema, connection))
}

async fn of_sqlite(connection: &mut Sqlite, query: &str) -> Lines {
    let rows: Vec<Line> = diesel::sql_query(query).load(connection).await.unwrap();
    rows.into_iter().map(|row| row.line).collect()
}

async fn of_postgres(schema: &Schema, query: &str) -> Lines {
    let rows = schema.query(query).await;
    rows.into_iter().flatten().flatten().collect()
}

const SQLITE_COLUMNS: &str = "
    SELECT m.name || '.' || c.name || ' ' || lower(c.type)
        || CASE c.\"notnull\" WHEN 1 THEN ' not null' ELSE '' END AS line
    FROM sqlite_master m, pragma_table_info(m.name) c
    WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'";

/// What PostgreSQL has types of its own for is text in SQLite.
const POSTGRES_COLUMNS: &str = "
    SELECT table_name || '.' || column_name || ' '
        || CASE WHEN data_type IN ('uuid', 'timestamp with time zone') THEN 'text'
           ELSE data_type END
        || CASE is_nullable WHEN 'NO' THEN ' not null' ELSE '' END AS line
    FROM information_schema.columns WHERE table_schema = current_schema()";

const SQLITE_INDEXES: &str =
    "SELECT name AS line FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL";

const POSTGRES_INDEXES: &str = "
    SELECT i.relname AS line FROM pg_class i
    WHERE i.relkind = 'i' AND i.relnamespace = current_schema()::regnamespace
        AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = i.oid)";

const POSTGRES_CONSTRAINTS: &str = "
    SELECT conname AS line FROM pg_constraint
    WHERE connamespace = current_schema()::regnamespace
        AND conrelid <> 'schema_migration'::regclass";

/// Everything, in the database's own words.
const SQLITE_SCHEMA: &str =
    "SELECT type || ' ' || name || ' ' || coalesce(sql, '') AS line FROM sqlite_master";

const POSTGRES_SCHEMA: &str = "
    SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable
        || coalesce(column_default, '') || coalesce(collation_name, '') AS line
    FROM information_schema.columns WHERE table_schema = current_schema()
    UNION ALL
    SELECT conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
    WHERE connamespace = current_schema()::regnamespace
    UNION ALL
    SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema()";

/// `CONSTRAINT` and a name, as SQLite keeps them: in the text of the table.
async fn sqlite_constraints(connection: &mut Sqlite) -> Lines {
    let tables = "SELECT sql AS line FROM sqlite_master WHERE type = 'table'";
    let tables = of_sqlite(connection, tables).await;
    let named = |sql: &str| -> Vec<String> {
        let words: Vec<&str> = sql.split_whitespace().collect();
        let pairs = words.windows(2).filter(|pair| pair[0] == "CONSTRAINT");
        pairs.map(|pair| pair[1].to_owned()).collect()
    };
    tables.iter().flat_map(|sql| named(sql)).collect()
}

#[tokio::test]
async fn on_sqlite_up_down_and_up_is_up() {
    let (_directory, mut connection) = sqlite().await;
    super::sqlite(&mut connection, Path::new("")).await.unwrap();
    let before = of_sqlite(&mut connection, SQLITE_SCHEMA).await;
    for migration in MIGRATIONS.iter().rev() {
        connection.batch_execute(migration.sqlite.down).await.unwrap();
    }
    let tables = "SELECT name AS line FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'";
    let left = of_sqlite(&mut connection, tables).await;
    assert_eq!(left, Lines::from(["schema_migration".to_owned()]));
    connection.batch_execute("DELETE FROM schema_migration").await.unwrap();
    super::sqlite(&mut connection, Path::new("")).await.unwrap();
    assert_eq!(of_sqlite(&mut connection, SQLITE_SCHEMA).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn on_postgres_up_down_and_up_is_up() {
    let Some((schema, mut connection)) = postgres().await else { return };
    super::postgres(&mut connection).await.unwrap();
    let before = of_postgres(&schema, POSTGRES_SCHEMA).await;
    for migration in MIGRATIONS.iter().rev() {
        connection.batch_execute(migration.postgres.down).await.unwrap();
    }
    let tables = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()";
    assert_eq!(of_postgres(&schema, tables).await, Lines::from(["schema_migration".to_owned()]));
    connection.batch_execute("DELETE FROM schema_migration").await.unwrap();
    super::postgres(&mut connection).await.unwrap();
    assert_eq!(of_postgres(&schema, POSTGRES_SCHEMA).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_and_postgres_have_the_same_tables() {
    let Some((schema, mut server)) = postgres().await else { return };
    let (_directory, mut file) = sqlite().await;
    super::postgres(&mut server).await.unwrap();
    super::sqlite(&mut file, Path::new("")).await.unwrap();
    let columns = of_sqlite(&mut file, SQLITE_COLUMNS).await;
    assert!(columns.contains("document.link text"), "{columns:?}");
    assert_eq!(columns, of_postgres(&schema, POSTGRES_COLUMNS).await);
    let indexes = of_sqlite(&mut file, SQLITE_INDEXES).await;
    assert_eq!(indexes, of_postgres(&schema, POSTGRES_INDEXES).await);
    let constraints = sqlite_constraints(&mut file).await;
    assert_eq!(constraints, of_postgres(&schema, POSTGRES_CONSTRAINTS).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_that_start_together_on_postgres_migrate_once() {
    let Some((schema, mut first)) = postgres().await else { return };
    let mut second = AsyncPgConnection::establish(&schema.url()).await.unwrap();
    let (first, second) =
        futures_util::join!(super::postgres(&mut first), super::postgres(&mut second));
    first.unwrap();
    second.unwrap();
    let applied = of_postgres(&schema, "SELECT version FROM schema_migration").await;
    assert_eq!(applied.len(), MIGRATIONS.len());
}

/// Those that are to go, or that name no group, are left alone.
#[tokio::test]
async fn documents_for_groups_of_their_source_are_written_anew() {
    let (_directory, mut connection) = sqlite().await;
    super::sqlite(&mut connection, Path::new("")).await.unwrap();
    connection.batch_execute("PRAGMA foreign_keys = OFF").await.unwrap();
    let documents = [
        ("grouped", "NULL", r#"["jira_g"]"#),
        ("going", "'removal'", r#"["jira_g"]"#),
        ("named", "NULL", "[]"),
    ];
    for (id, pending, groups) in documents {
        let row = format!(
            "INSERT INTO document (id, source, semantic_identifier, metadata, primary_owners, \
                secondary_owners, from_ingestion_api, boost, hidden, revision, content_revision, \
                pending, chunk_count, changed_at) \
             VALUES ('{id}', 'jira', '', '{{}}', '[]', '[]', false, 0, false, 7, 7, {pending}, 1, ''); \
             INSERT INTO external_access VALUES ('{id}', 2, false, '[]', '{groups}')"
        );
        connection.batch_execute(&row).await.unwrap();
    }
    let scoped =
        |migration: &&super::Migration| migration.version.ends_with("scope_external_groups");
    let migration = MIGRATIONS.iter().find(scoped).unwrap();
    connection.batch_execute(migration.sqlite.up).await.unwrap();
    let rows =
        "SELECT id || ' ' || coalesce(pending, 'done') || ' ' || revision AS line FROM document";
    let expected = ["grouped attributes 8", "going removal 7", "named done 7"];
    assert_eq!(of_sqlite(&mut connection, rows).await, Lines::from(expected.map(str::to_owned)));
}

#[test]
fn versions_are_the_folders_in_order() {
    for database in ["sqlite", "postgres"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations").join(database);
        let entries = std::fs::read_dir(folder).unwrap();
        let folders: Lines =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        let versions: Vec<&str> = MIGRATIONS.iter().map(|migration| migration.version).collect();
        assert!(folders.iter().eq(&versions), "{folders:?}");
    }
}
