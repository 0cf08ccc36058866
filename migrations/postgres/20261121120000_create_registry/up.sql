-- Which registry this is. One row.
CREATE TABLE registry (
    row_number integer NOT NULL
        CONSTRAINT registry_pkey PRIMARY KEY CONSTRAINT registry_one_row CHECK (row_number = 1),
    id uuid NOT NULL,
    -- The data directory whose index holds the documents, when it is one in a process.
    index_holder uuid
);
