// Datasets by key, for their names
UNWIND $given.keys AS key
MATCH (d:Dataset {key: key})
RETURN d {.key, .namespace, .name, .title, .type, .dropped, .dropped_at} AS properties
