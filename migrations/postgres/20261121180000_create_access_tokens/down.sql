DROP TABLE access_token;
ALTER TABLE api_key DROP COLUMN last_used_at;
