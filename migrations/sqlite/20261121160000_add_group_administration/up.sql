-- 'up_to_date', 'syncing' or 'deleting'.
ALTER TABLE user_group ADD COLUMN state TEXT NOT NULL DEFAULT 'up_to_date';
-- Grows with every change that the index must know of.
ALTER TABLE user_group ADD COLUMN revision BIGINT NOT NULL DEFAULT 0;
CREATE INDEX user_group_unsynced_idx ON user_group (id) WHERE state <> 'up_to_date';
CREATE INDEX cc_pair_group_group_id_idx ON cc_pair_group (group_id);
CREATE INDEX document_set_group_group_id_idx ON document_set_group (group_id);
