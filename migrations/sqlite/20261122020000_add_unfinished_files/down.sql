DROP INDEX stored_file_unfinished_idx;
ALTER TABLE stored_file DROP COLUMN unfinished;
