// The latest schemas of a dataset by any of its names, and how many there are
MATCH (d:HwDataset)<-[:OF]-(s:HwSchemaVersion)
USING INDEX SEEK d:HwDataset(key)
WHERE d.key IN $given.keys
WITH s ORDER BY s.last_seen DESC, s.first_seen DESC, s.key
WITH collect(s) AS schemas
UNWIND schemas[..$given.most] AS s
RETURN s {.digest, .columns, .data_types, .nullable, .first_seen, .last_seen} AS schema, size(schemas) AS total
