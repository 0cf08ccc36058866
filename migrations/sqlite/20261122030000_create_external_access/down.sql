DROP TABLE permission_sync;
DROP TABLE external_group_member;
DROP TABLE external_access;
