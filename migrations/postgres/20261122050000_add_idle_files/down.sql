ALTER TABLE stored_file DROP COLUMN needed_at;
