-- What a connector reads, and when.
ALTER TABLE connector ADD COLUMN input_type TEXT NOT NULL DEFAULT 'load_state';
ALTER TABLE connector ADD COLUMN refresh_freq_s INTEGER;
ALTER TABLE connector ADD COLUMN prune_freq_s INTEGER;
ALTER TABLE connector ADD COLUMN indexing_start TEXT;

-- Sealed: a JSON object. None for the system's own.
ALTER TABLE credential ADD COLUMN secret TEXT;
-- What the secret of the row is sealed for.
ALTER TABLE credential ADD COLUMN uuid TEXT NOT NULL
    DEFAULT '00000000-0000-0000-0000-000000000000';
ALTER TABLE credential ADD COLUMN revision BIGINT NOT NULL DEFAULT 0;
ALTER TABLE credential ADD COLUMN admin_public BOOLEAN NOT NULL DEFAULT true;
ALTER TABLE credential ADD COLUMN curator_public BOOLEAN NOT NULL DEFAULT false;

CREATE TABLE credential_group (
    credential_id INTEGER NOT NULL CONSTRAINT credential_group_credential_id_fkey
        REFERENCES credential (id) ON DELETE CASCADE,
    group_id INTEGER NOT NULL CONSTRAINT credential_group_group_id_fkey
        REFERENCES user_group (id) ON DELETE CASCADE,
    CONSTRAINT credential_group_pkey PRIMARY KEY (credential_id, group_id)
);
CREATE INDEX credential_group_group_id_idx ON credential_group (group_id);

-- Who starts its runs: 'schedule', or 'nobody' for what is posted or read by a command.
ALTER TABLE cc_pair ADD COLUMN run_by TEXT NOT NULL DEFAULT 'nobody';
CREATE UNIQUE INDEX cc_pair_scheduled_name_idx ON cc_pair (name) WHERE run_by = 'schedule';
-- JSON object.
ALTER TABLE cc_pair ADD COLUMN auto_sync_options TEXT;
ALTER TABLE cc_pair ADD COLUMN processing_mode TEXT NOT NULL DEFAULT 'REGULAR';
ALTER TABLE cc_pair ADD COLUMN in_repeated_error_state BOOLEAN NOT NULL DEFAULT false;
-- 'update' or 'reindex'.
ALTER TABLE cc_pair ADD COLUMN indexing_trigger TEXT;
ALTER TABLE cc_pair ADD COLUMN prune_requested BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE cc_pair ADD COLUMN last_successful_index_at TEXT;
ALTER TABLE cc_pair ADD COLUMN last_pruned_at TEXT;
ALTER TABLE cc_pair ADD COLUMN deletion_failure TEXT;

CREATE TABLE index_attempt (
    id INTEGER NOT NULL CONSTRAINT index_attempt_pkey PRIMARY KEY AUTOINCREMENT,
    cc_pair_id INTEGER NOT NULL CONSTRAINT index_attempt_cc_pair_id_fkey
        REFERENCES cc_pair (id) ON DELETE CASCADE,
    from_beginning BOOLEAN NOT NULL,
    status TEXT NOT NULL,
    window_start TEXT NOT NULL,
    window_end TEXT NOT NULL,
    -- What the run was stopped for, when somebody asked for it.
    stop_reason TEXT,
    -- JSON; where the source goes on.
    checkpoint TEXT,
    steps INTEGER NOT NULL DEFAULT 0,
    documents_enumerated BIGINT NOT NULL DEFAULT 0,
    documents_new BIGINT NOT NULL DEFAULT 0,
    documents_updated BIGINT NOT NULL DEFAULT 0,
    documents_unchanged BIGINT NOT NULL DEFAULT 0,
    documents_skipped BIGINT NOT NULL DEFAULT 0,
    documents_failed BIGINT NOT NULL DEFAULT 0,
    documents_removed BIGINT NOT NULL DEFAULT 0,
    -- In a row, since the last step that succeeded.
    tries INTEGER NOT NULL DEFAULT 0,
    retry_at TEXT,
    error TEXT,
    is_invalid BOOLEAN NOT NULL DEFAULT false,
    -- How often a worker took it: who took it last runs it, and until when nobody else takes it.
    claims INTEGER NOT NULL DEFAULT 0,
    leased_until TEXT,
    created_at TEXT NOT NULL,
    started_at TEXT,
    updated_at TEXT NOT NULL,
    finished_at TEXT
);
CREATE INDEX index_attempt_cc_pair_id_idx ON index_attempt (cc_pair_id, id);
-- One run of a pair at a time.
CREATE UNIQUE INDEX index_attempt_unfinished_idx ON index_attempt (cc_pair_id)
    WHERE status IN ('not_started', 'in_progress');

CREATE TABLE index_attempt_error (
    id INTEGER NOT NULL CONSTRAINT index_attempt_error_pkey PRIMARY KEY AUTOINCREMENT,
    index_attempt_id INTEGER NOT NULL CONSTRAINT index_attempt_error_index_attempt_id_fkey
        REFERENCES index_attempt (id) ON DELETE CASCADE,
    cc_pair_id INTEGER NOT NULL CONSTRAINT index_attempt_error_cc_pair_id_fkey
        REFERENCES cc_pair (id) ON DELETE CASCADE,
    document_id TEXT,
    document_link TEXT,
    entity_id TEXT,
    window_start TEXT,
    window_end TEXT,
    message TEXT NOT NULL,
    resolved BOOLEAN NOT NULL,
    created_at TEXT NOT NULL
);
CREATE INDEX index_attempt_error_index_attempt_id_idx ON index_attempt_error (index_attempt_id);
CREATE INDEX index_attempt_error_cc_pair_id_idx ON index_attempt_error (cc_pair_id, id);

CREATE TABLE stored_file (
    id TEXT NOT NULL CONSTRAINT stored_file_pkey PRIMARY KEY,
    display_name TEXT NOT NULL,
    origin TEXT NOT NULL,
    mime_type TEXT NOT NULL,
    size_bytes BIGINT NOT NULL,
    owner_id TEXT
        CONSTRAINT stored_file_owner_id_fkey REFERENCES user_account (id) ON DELETE SET NULL,
    created_at TEXT NOT NULL
);
