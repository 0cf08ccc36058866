-- A row comes before the content that it names; whatever is unfinished at the start is removed.
ALTER TABLE stored_file ADD COLUMN unfinished BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX stored_file_unfinished_idx ON stored_file (id) WHERE unfinished;
