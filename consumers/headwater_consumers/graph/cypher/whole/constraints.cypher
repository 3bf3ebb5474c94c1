// Names of Headwater's constraints
SHOW CONSTRAINTS YIELD name WHERE name STARTS WITH 'headwater_' RETURN name
