-- What administrators decide for everybody, as a JSON object. One row, or none before they do.
CREATE TABLE workspace_settings (
    row_number INTEGER NOT NULL
        CONSTRAINT workspace_settings_pkey PRIMARY KEY
        CONSTRAINT workspace_settings_one_row CHECK (row_number = 1),
    settings TEXT NOT NULL
);
