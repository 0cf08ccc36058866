DROP TABLE token_usage;
DROP TABLE token_limit;
