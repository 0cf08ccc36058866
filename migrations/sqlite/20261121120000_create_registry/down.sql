DROP TABLE registry;
