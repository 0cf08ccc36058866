ALTER TABLE document_set ADD COLUMN description TEXT NOT NULL DEFAULT '';
ALTER TABLE document_set ADD COLUMN owner_id TEXT
    CONSTRAINT document_set_owner_id_fkey REFERENCES user_account (id) ON DELETE SET NULL;
-- 'new', 'up_to_date', 'syncing' or 'deleting'.
ALTER TABLE document_set ADD COLUMN state TEXT NOT NULL DEFAULT 'up_to_date';
-- Grows with every change that the index must know of.
ALTER TABLE document_set ADD COLUMN revision BIGINT NOT NULL DEFAULT 0;
CREATE INDEX document_set_unsynced_idx ON document_set (id) WHERE state <> 'up_to_date';

CREATE TABLE agent (
    id INTEGER NOT NULL CONSTRAINT agent_pkey PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    system_prompt TEXT NOT NULL,
    task_prompt TEXT NOT NULL,
    replace_base_system_prompt BOOLEAN NOT NULL,
    datetime_aware BOOLEAN NOT NULL,
    search_start_date TEXT,
    model_provider TEXT,
    model_name TEXT,
    model_configuration_id INTEGER,
    icon_name TEXT,
    -- A JSON array of pairs of texts: name and message.
    starter_messages TEXT,
    owner_id TEXT CONSTRAINT agent_owner_id_fkey REFERENCES user_account (id) ON DELETE SET NULL,
    public BOOLEAN NOT NULL,
    listed BOOLEAN NOT NULL,
    featured BOOLEAN NOT NULL,
    builtin BOOLEAN NOT NULL,
    deleted BOOLEAN NOT NULL,
    display_priority INTEGER,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);
CREATE INDEX agent_name_idx ON agent (name);
CREATE INDEX agent_owner_id_idx ON agent (owner_id);

CREATE TABLE agent_user (
    agent_id INTEGER NOT NULL
        CONSTRAINT agent_user_agent_id_fkey REFERENCES agent (id) ON DELETE CASCADE,
    user_id TEXT NOT NULL
        CONSTRAINT agent_user_user_id_fkey REFERENCES user_account (id) ON DELETE CASCADE,
    CONSTRAINT agent_user_pkey PRIMARY KEY (agent_id, user_id)
);
CREATE INDEX agent_user_user_id_idx ON agent_user (user_id);

CREATE TABLE agent_group (
    agent_id INTEGER NOT NULL
        CONSTRAINT agent_group_agent_id_fkey REFERENCES agent (id) ON DELETE CASCADE,
    group_id INTEGER NOT NULL
        CONSTRAINT agent_group_group_id_fkey REFERENCES user_group (id) ON DELETE CASCADE,
    CONSTRAINT agent_group_pkey PRIMARY KEY (agent_id, group_id)
);
CREATE INDEX agent_group_group_id_idx ON agent_group (group_id);

-- Neither sets nor documents are referenced: an agent whose last one is gone must find nothing,
-- not everything.
CREATE TABLE agent_document_set (
    agent_id INTEGER NOT NULL
        CONSTRAINT agent_document_set_agent_id_fkey REFERENCES agent (id) ON DELETE CASCADE,
    document_set_id INTEGER NOT NULL,
    CONSTRAINT agent_document_set_pkey PRIMARY KEY (agent_id, document_set_id)
);

CREATE TABLE agent_document (
    agent_id INTEGER NOT NULL
        CONSTRAINT agent_document_agent_id_fkey REFERENCES agent (id) ON DELETE CASCADE,
    document_id TEXT NOT NULL,
    CONSTRAINT agent_document_pkey PRIMARY KEY (agent_id, document_id)
);

-- Tools are a part of the program.
CREATE TABLE agent_tool (
    agent_id INTEGER NOT NULL
        CONSTRAINT agent_tool_agent_id_fkey REFERENCES agent (id) ON DELETE CASCADE,
    tool_id INTEGER NOT NULL,
    CONSTRAINT agent_tool_pkey PRIMARY KEY (agent_id, tool_id)
);

CREATE TABLE agent_label (
    id INTEGER NOT NULL CONSTRAINT agent_label_pkey PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL CONSTRAINT agent_label_name_key UNIQUE
);

CREATE TABLE agent_label_link (
    agent_id INTEGER NOT NULL
        CONSTRAINT agent_label_link_agent_id_fkey REFERENCES agent (id) ON DELETE CASCADE,
    label_id INTEGER NOT NULL
        CONSTRAINT agent_label_link_label_id_fkey REFERENCES agent_label (id) ON DELETE CASCADE,
    CONSTRAINT agent_label_link_pkey PRIMARY KEY (agent_id, label_id)
);

-- The agent of whoever names none. It can search.
INSERT INTO agent
    (id, name, description, system_prompt, task_prompt, replace_base_system_prompt, datetime_aware,
     public, listed, featured, builtin, deleted, created_at, updated_at)
VALUES
    (0, 'Assistant', 'Searches everything that you may read.', '', '', false, true, true, true,
     true, true, false, '1970-01-01T00:00:00.000000Z', '1970-01-01T00:00:00.000000Z');
INSERT INTO agent_tool (agent_id, tool_id) VALUES (0, 1);
