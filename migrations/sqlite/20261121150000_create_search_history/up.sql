CREATE TABLE search_history (
    id INTEGER NOT NULL CONSTRAINT search_history_pkey PRIMARY KEY AUTOINCREMENT,
    user_id TEXT NOT NULL
        CONSTRAINT search_history_user_id_fkey REFERENCES user_account (id) ON DELETE CASCADE,
    query TEXT NOT NULL,
    -- A JSON array of texts.
    expansions TEXT NOT NULL,
    created_at TEXT NOT NULL
);
CREATE INDEX search_history_user_id_created_at_idx ON search_history (user_id, created_at, id);
