DROP TABLE search_history;
