DROP INDEX document_set_group_group_id_idx;
DROP INDEX cc_pair_group_group_id_idx;
DROP INDEX user_group_unsynced_idx;
ALTER TABLE user_group DROP COLUMN revision;
ALTER TABLE user_group DROP COLUMN state;
