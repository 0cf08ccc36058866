DROP TABLE llm_default;
DROP TABLE llm_provider_agent;
DROP TABLE llm_provider_group;
DROP TABLE llm_model_configuration;
DROP TABLE llm_provider;
DROP TABLE secret_key;
