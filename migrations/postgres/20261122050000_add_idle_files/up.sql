-- A file that nobody names is removed a day after it was uploaded, or was about to be named.
ALTER TABLE stored_file ADD COLUMN needed_at timestamptz;
