ALTER TABLE document_cc_pair DROP COLUMN listed_by;
DROP TABLE pair_task;
