CREATE TABLE user_account (
    id TEXT NOT NULL CONSTRAINT user_account_pkey PRIMARY KEY,
    email TEXT NOT NULL,
    -- The address in lower case: what makes it unique.
    email_key TEXT NOT NULL CONSTRAINT user_account_email_key UNIQUE,
    -- 'person' or 'service'.
    kind TEXT NOT NULL,
    role TEXT NOT NULL,
    active BOOLEAN NOT NULL,
    -- Argon2id in the PHC string format.
    password_hash TEXT,
    name TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);

-- Everything that lists are filtered by, in their order: pages are counted and skipped without a
-- look at the rows.
CREATE INDEX user_account_list_idx ON user_account (email_key, role, kind, active);
CREATE INDEX user_account_password_idx ON user_account (id) WHERE password_hash IS NOT NULL;

-- What users set for themselves, as JSON objects; the name is in the account.
CREATE TABLE user_profile (
    user_id TEXT NOT NULL CONSTRAINT user_profile_pkey PRIMARY KEY
        CONSTRAINT user_profile_user_id_fkey REFERENCES user_account (id) ON DELETE CASCADE,
    preferences TEXT NOT NULL,
    personalization TEXT NOT NULL
);

-- Addresses that may register.
CREATE TABLE invitation (
    email_key TEXT NOT NULL CONSTRAINT invitation_pkey PRIMARY KEY,
    email TEXT NOT NULL,
    created_at TEXT NOT NULL
);

CREATE TABLE user_session (
    id INTEGER NOT NULL CONSTRAINT user_session_pkey PRIMARY KEY AUTOINCREMENT,
    -- SHA-256 of the token, in hexadecimal.
    token_hash TEXT NOT NULL CONSTRAINT user_session_token_hash_key UNIQUE,
    user_id TEXT NOT NULL
        CONSTRAINT user_session_user_id_fkey REFERENCES user_account (id) ON DELETE CASCADE,
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL
);
CREATE INDEX user_session_user_id_idx ON user_session (user_id, id);
CREATE INDEX user_session_expires_at_idx ON user_session (expires_at);

CREATE TABLE api_key (
    id INTEGER NOT NULL CONSTRAINT api_key_pkey PRIMARY KEY AUTOINCREMENT,
    name TEXT,
    display TEXT NOT NULL,
    -- SHA-256 of the token, in hexadecimal.
    token_hash TEXT NOT NULL CONSTRAINT api_key_token_hash_key UNIQUE,
    user_id TEXT NOT NULL
        CONSTRAINT api_key_user_id_fkey REFERENCES user_account (id) ON DELETE CASCADE,
    created_at TEXT NOT NULL,
    revoked_at TEXT
);
CREATE INDEX api_key_user_id_idx ON api_key (user_id);

CREATE TABLE user_group (
    id INTEGER NOT NULL CONSTRAINT user_group_pkey PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL CONSTRAINT user_group_name_key UNIQUE
);

CREATE TABLE user_group_member (
    group_id INTEGER NOT NULL
        CONSTRAINT user_group_member_group_id_fkey REFERENCES user_group (id) ON DELETE CASCADE,
    user_id TEXT NOT NULL
        CONSTRAINT user_group_member_user_id_fkey REFERENCES user_account (id) ON DELETE CASCADE,
    curator BOOLEAN NOT NULL,
    CONSTRAINT user_group_member_pkey PRIMARY KEY (group_id, user_id)
);
CREATE INDEX user_group_member_user_id_idx ON user_group_member (user_id);

CREATE TABLE connector (
    id INTEGER NOT NULL CONSTRAINT connector_pkey PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    source TEXT NOT NULL,
    -- A JSON object.
    config TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    CONSTRAINT connector_name_source_key UNIQUE (name, source)
);

CREATE TABLE credential (
    id INTEGER NOT NULL CONSTRAINT credential_pkey PRIMARY KEY AUTOINCREMENT,
    name TEXT,
    source TEXT NOT NULL,
    -- Reads the private documents of its pairs; none for the system's own.
    owner_id TEXT
        CONSTRAINT credential_owner_id_fkey REFERENCES user_account (id) ON DELETE SET NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);

CREATE TABLE cc_pair (
    id INTEGER NOT NULL CONSTRAINT cc_pair_pkey PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    connector_id INTEGER NOT NULL
        CONSTRAINT cc_pair_connector_id_fkey REFERENCES connector (id),
    credential_id INTEGER NOT NULL
        CONSTRAINT cc_pair_credential_id_fkey REFERENCES credential (id),
    access_type TEXT NOT NULL,
    status TEXT NOT NULL,
    creator_id TEXT
        CONSTRAINT cc_pair_creator_id_fkey REFERENCES user_account (id) ON DELETE SET NULL,
    created_at TEXT NOT NULL,
    CONSTRAINT cc_pair_connector_id_credential_id_key UNIQUE (connector_id, credential_id)
);

CREATE TABLE cc_pair_group (
    cc_pair_id INTEGER NOT NULL
        CONSTRAINT cc_pair_group_cc_pair_id_fkey REFERENCES cc_pair (id) ON DELETE CASCADE,
    group_id INTEGER NOT NULL
        CONSTRAINT cc_pair_group_group_id_fkey REFERENCES user_group (id) ON DELETE CASCADE,
    CONSTRAINT cc_pair_group_pkey PRIMARY KEY (cc_pair_id, group_id)
);

CREATE TABLE document (
    id TEXT NOT NULL CONSTRAINT document_pkey PRIMARY KEY,
    source TEXT NOT NULL,
    semantic_identifier TEXT NOT NULL,
    link TEXT,
    -- A JSON object of texts and lists of texts.
    metadata TEXT NOT NULL,
    updated_at TEXT,
    created_at TEXT,
    -- JSON arrays of texts.
    primary_owners TEXT NOT NULL,
    secondary_owners TEXT NOT NULL,
    from_ingestion_api BOOLEAN NOT NULL,
    boost INTEGER NOT NULL,
    hidden BOOLEAN NOT NULL,
    revision BIGINT NOT NULL,
    -- The revision at which content was replaced last: what older ones say of it is out of date.
    content_revision BIGINT NOT NULL,
    -- 'attributes' or 'removal'; nothing when index and registry agree.
    pending TEXT,
    content_hash TEXT,
    embedding_model TEXT,
    chunk_count INTEGER NOT NULL,
    changed_at TEXT NOT NULL
);
CREATE INDEX document_pending_idx ON document (id) WHERE pending IS NOT NULL;
CREATE INDEX document_from_ingestion_api_idx ON document (id) WHERE from_ingestion_api;

CREATE TABLE document_cc_pair (
    document_id TEXT NOT NULL
        CONSTRAINT document_cc_pair_document_id_fkey REFERENCES document (id) ON DELETE CASCADE,
    cc_pair_id INTEGER NOT NULL
        CONSTRAINT document_cc_pair_cc_pair_id_fkey REFERENCES cc_pair (id) ON DELETE CASCADE,
    indexed BOOLEAN NOT NULL,
    CONSTRAINT document_cc_pair_pkey PRIMARY KEY (document_id, cc_pair_id)
);
CREATE INDEX document_cc_pair_cc_pair_id_idx ON document_cc_pair (cc_pair_id, document_id);

CREATE TABLE document_set (
    id INTEGER NOT NULL CONSTRAINT document_set_pkey PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL CONSTRAINT document_set_name_key UNIQUE,
    public BOOLEAN NOT NULL,
    created_at TEXT NOT NULL
);

CREATE TABLE document_set_cc_pair (
    document_set_id INTEGER NOT NULL CONSTRAINT document_set_cc_pair_document_set_id_fkey
        REFERENCES document_set (id) ON DELETE CASCADE,
    cc_pair_id INTEGER NOT NULL CONSTRAINT document_set_cc_pair_cc_pair_id_fkey
        REFERENCES cc_pair (id) ON DELETE CASCADE,
    CONSTRAINT document_set_cc_pair_pkey PRIMARY KEY (document_set_id, cc_pair_id)
);
CREATE INDEX document_set_cc_pair_cc_pair_id_idx ON document_set_cc_pair (cc_pair_id);

CREATE TABLE document_set_group (
    document_set_id INTEGER NOT NULL CONSTRAINT document_set_group_document_set_id_fkey
        REFERENCES document_set (id) ON DELETE CASCADE,
    group_id INTEGER NOT NULL CONSTRAINT document_set_group_group_id_fkey
        REFERENCES user_group (id) ON DELETE CASCADE,
    CONSTRAINT document_set_group_pkey PRIMARY KEY (document_set_id, group_id)
);

CREATE TABLE document_set_user (
    document_set_id INTEGER NOT NULL CONSTRAINT document_set_user_document_set_id_fkey
        REFERENCES document_set (id) ON DELETE CASCADE,
    user_id TEXT NOT NULL CONSTRAINT document_set_user_user_id_fkey
        REFERENCES user_account (id) ON DELETE CASCADE,
    CONSTRAINT document_set_user_pkey PRIMARY KEY (document_set_id, user_id)
);

CREATE TABLE job (
    id TEXT NOT NULL CONSTRAINT job_pkey PRIMARY KEY,
    queue TEXT NOT NULL,
    kind TEXT NOT NULL,
    deduplication_key TEXT,
    -- JSON.
    payload TEXT NOT NULL,
    -- 'waiting', 'running' or 'parked'.
    state TEXT NOT NULL,
    run_at TEXT NOT NULL,
    leased_until TEXT,
    attempt INTEGER NOT NULL,
    error TEXT
);
CREATE UNIQUE INDEX job_deduplication_key ON job (queue, deduplication_key)
    WHERE state = 'waiting';
CREATE INDEX job_run_at_idx ON job (queue, state, run_at, id);

-- What posted documents belong to: connector 0, credential 0, pair 1.
INSERT INTO connector (id, name, source, config, created_at, updated_at)
VALUES (0, 'Ingestion API', 'ingestion_api', '{}', '1970-01-01T00:00:00.000000Z', '1970-01-01T00:00:00.000000Z');
INSERT INTO credential (id, name, source, owner_id, created_at, updated_at)
VALUES (0, NULL, 'ingestion_api', NULL, '1970-01-01T00:00:00.000000Z', '1970-01-01T00:00:00.000000Z');
INSERT INTO cc_pair
    (id, name, connector_id, credential_id, access_type, status, creator_id, created_at)
VALUES (1, 'DefaultCCPair', 0, 0, 'public', 'ACTIVE', NULL, '1970-01-01T00:00:00.000000Z');
