//! Whether anything was written.

use diesel::sql_types::Integer;
use diesel::{Connection, QueryableByName, RunQueryDsl, SqliteConnection};

use crate::server::Server;

#[derive(QueryableByName)]
struct Version {
    #[diesel(sql_type = Integer)]
    data_version: i32,
}

/// A connection beside the server's.
pub(super) struct Database(SqliteConnection);

impl Database {
    pub(super) fn of(server: &Server) -> Self {
        let path = server.stack.directory.path().join("trove.db");
        Self(SqliteConnection::establish(path.to_str().unwrap()).unwrap())
    }

    /// Another number after every transaction that wrote, whatever it wrote.
    pub(super) fn version(&mut self) -> i32 {
        let query = diesel::sql_query("PRAGMA data_version");
        query.get_result::<Version>(&mut self.0).unwrap().data_version
    }
}
