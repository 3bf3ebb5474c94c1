// Names of Headwater's indexes
SHOW INDEXES YIELD name WHERE name STARTS WITH 'headwater_' RETURN name
