-- Who may read a document by what the source of one of its pairs says. Goes with the link.
CREATE TABLE external_access (
    document_id TEXT NOT NULL,
    cc_pair_id INTEGER NOT NULL,
    is_public BOOLEAN NOT NULL,
    -- JSON lists of strings.
    user_keys TEXT NOT NULL,
    group_keys TEXT NOT NULL,
    CONSTRAINT external_access_pkey PRIMARY KEY (document_id, cc_pair_id),
    CONSTRAINT external_access_document_id_cc_pair_id_fkey
        FOREIGN KEY (document_id, cc_pair_id)
        REFERENCES document_cc_pair (document_id, cc_pair_id) ON DELETE CASCADE
);

-- Who is in which groups of external systems. The empty address is everybody.
CREATE TABLE external_group_member (
    email_key TEXT NOT NULL,
    group_key TEXT NOT NULL,
    cc_pair_id INTEGER NOT NULL CONSTRAINT external_group_member_cc_pair_id_fkey
        REFERENCES cc_pair (id) ON DELETE CASCADE,
    -- The run of the pair's sync that has last told it, and whether one has ended that did.
    run BIGINT NOT NULL,
    in_force BOOLEAN NOT NULL,
    CONSTRAINT external_group_member_pkey PRIMARY KEY (email_key, group_key, cc_pair_id)
);
CREATE INDEX external_group_member_cc_pair_id_idx ON external_group_member (cc_pair_id, run);

-- The fetching of permissions: one row for each pair whose source tells them.
CREATE TABLE permission_sync (
    cc_pair_id INTEGER NOT NULL CONSTRAINT permission_sync_pkey PRIMARY KEY
        CONSTRAINT permission_sync_cc_pair_id_fkey REFERENCES cc_pair (id) ON DELETE CASCADE,
    status TEXT NOT NULL,
    -- JSON; where the source goes on.
    checkpoint TEXT,
    -- Counts up with each that begins.
    run BIGINT NOT NULL,
    tries INTEGER NOT NULL,
    -- What went wrong with documents in this run, and what came of the last one or of the last try.
    failures TEXT,
    error TEXT,
    -- When the next one begins, or this one is tried again.
    due_at TEXT NOT NULL,
    claims INTEGER NOT NULL,
    leased_until TEXT,
    finished_at TEXT,
    completed_at TEXT
);
CREATE INDEX permission_sync_due_at_idx ON permission_sync (due_at);
