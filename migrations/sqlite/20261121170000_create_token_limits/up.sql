CREATE TABLE token_limit (
    id INTEGER NOT NULL CONSTRAINT token_limit_pkey PRIMARY KEY AUTOINCREMENT,
    -- 'global', 'user' or 'group'.
    scope TEXT NOT NULL,
    group_id INTEGER
        CONSTRAINT token_limit_group_id_fkey REFERENCES user_group (id) ON DELETE CASCADE,
    enabled BOOLEAN NOT NULL,
    budget_thousands INTEGER NOT NULL,
    period_hours INTEGER NOT NULL
);
CREATE INDEX token_limit_group_id_idx ON token_limit (group_id);

-- By the minute. Users are not referenced: what they have used counts after they are gone.
CREATE TABLE token_usage (
    user_id TEXT NOT NULL,
    used_at TEXT NOT NULL,
    tokens BIGINT NOT NULL,
    CONSTRAINT token_usage_pkey PRIMARY KEY (user_id, used_at)
);
CREATE INDEX token_usage_used_at_idx ON token_usage (used_at);
