DROP TABLE workspace_settings;
