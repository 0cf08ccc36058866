-- Which key the secrets in this database are sealed with. One row.
CREATE TABLE secret_key (
    row_number INTEGER NOT NULL
        CONSTRAINT secret_key_pkey PRIMARY KEY CONSTRAINT secret_key_one_row CHECK (row_number = 1),
    key_id TEXT
);
INSERT INTO secret_key (row_number, key_id) VALUES (1, NULL);

CREATE TABLE llm_provider (
    id INTEGER NOT NULL CONSTRAINT llm_provider_pkey PRIMARY KEY AUTOINCREMENT,
    -- What the secrets of the row are sealed for.
    uuid TEXT NOT NULL CONSTRAINT llm_provider_uuid_key UNIQUE,
    revision BIGINT NOT NULL,
    name TEXT NOT NULL CONSTRAINT llm_provider_name_key UNIQUE,
    kind TEXT NOT NULL,
    api_base TEXT,
    api_version TEXT,
    deployment TEXT,
    -- Sealed: key id, dot, ciphertext.
    api_key TEXT,
    -- Sealed: a JSON object of texts.
    custom_config TEXT,
    text_model TEXT,
    vision_model TEXT,
    chat_naming_model TEXT,
    public BOOLEAN NOT NULL,
    auto_mode BOOLEAN NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);

CREATE TABLE llm_model_configuration (
    provider_id INTEGER NOT NULL CONSTRAINT llm_model_configuration_provider_id_fkey
        REFERENCES llm_provider (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    name TEXT NOT NULL,
    visible BOOLEAN NOT NULL,
    input_tokens_max INTEGER,
    images BOOLEAN,
    display_name TEXT,
    CONSTRAINT llm_model_configuration_pkey PRIMARY KEY (provider_id, name)
);

-- A group that a provider is bound to stays: without it the provider could be open to more people.
CREATE TABLE llm_provider_group (
    provider_id INTEGER NOT NULL CONSTRAINT llm_provider_group_provider_id_fkey
        REFERENCES llm_provider (id) ON DELETE CASCADE,
    group_id INTEGER NOT NULL CONSTRAINT llm_provider_group_group_id_fkey
        REFERENCES user_group (id),
    CONSTRAINT llm_provider_group_pkey PRIMARY KEY (provider_id, group_id)
);
CREATE INDEX llm_provider_group_group_id_idx ON llm_provider_group (group_id);

-- An agent that is gone stays listed: without it the provider would be open to every other one.
CREATE TABLE llm_provider_agent (
    provider_id INTEGER NOT NULL CONSTRAINT llm_provider_agent_provider_id_fkey
        REFERENCES llm_provider (id) ON DELETE CASCADE,
    agent_id INTEGER NOT NULL,
    CONSTRAINT llm_provider_agent_pkey PRIMARY KEY (provider_id, agent_id)
);

CREATE TABLE llm_default (
    -- 'text', 'vision' or 'chat_naming'.
    purpose TEXT NOT NULL CONSTRAINT llm_default_pkey PRIMARY KEY,
    provider_id INTEGER NOT NULL CONSTRAINT llm_default_provider_id_fkey
        REFERENCES llm_provider (id) ON DELETE CASCADE
);
CREATE INDEX llm_default_provider_id_idx ON llm_default (provider_id);
