ALTER TABLE api_key ADD COLUMN last_used_at TEXT;

CREATE TABLE access_token (
    id INTEGER NOT NULL CONSTRAINT access_token_pkey PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    display TEXT NOT NULL,
    -- SHA-256 of the token, in hexadecimal.
    token_hash TEXT NOT NULL CONSTRAINT access_token_token_hash_key UNIQUE,
    user_id TEXT NOT NULL
        CONSTRAINT access_token_user_id_fkey REFERENCES user_account (id) ON DELETE CASCADE,
    -- Names with blanks between; everything that the user may do when there is none.
    scopes TEXT,
    created_at TEXT NOT NULL,
    expires_at TEXT,
    last_used_at TEXT
);
CREATE INDEX access_token_user_id_idx ON access_token (user_id);
