-- What is done with a pair beside its runs: 'prune' or 'deletion'. One at a time; the key is never
-- used twice, and tells whoever lost a task from whoever has the next one of the pair.
CREATE TABLE pair_task (
    id INTEGER NOT NULL CONSTRAINT pair_task_pkey PRIMARY KEY AUTOINCREMENT,
    cc_pair_id INTEGER NOT NULL CONSTRAINT pair_task_cc_pair_id_key UNIQUE
        CONSTRAINT pair_task_cc_pair_id_fkey REFERENCES cc_pair (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    -- JSON; where the listing of the source goes on, and whether it has come to its end.
    checkpoint TEXT,
    listed BOOLEAN NOT NULL DEFAULT false,
    -- JSON array; documents that were taken from the pair and that the index may not know of yet.
    unlinked TEXT,
    -- In a row, since the last step that succeeded.
    tries INTEGER NOT NULL DEFAULT 0,
    retry_at TEXT,
    error TEXT,
    -- How often a worker took it: who took it last works on it, and until when nobody else takes it.
    claims INTEGER NOT NULL DEFAULT 0,
    leased_until TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);

-- The prune that has last found the document in the source, or during which it was indexed.
ALTER TABLE document_cc_pair ADD COLUMN listed_by INTEGER;
