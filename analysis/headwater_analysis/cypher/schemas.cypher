// at: The last schema of each dataset that had been reported by a time
UNWIND $given.keys AS key
MATCH (d:HwDataset)
USING INDEX SEEK d:HwDataset(key)
WHERE d.key = key
CALL (d) {
  MATCH (d)<-[:OF]-(s:HwSchemaVersion)
  WHERE $given.time IS NULL OR s.first_seen <= $given.time
  RETURN s ORDER BY CASE WHEN s.last_seen > $given.time THEN $given.time ELSE s.last_seen END DESC, s.first_seen DESC, s.key
  LIMIT 1
}
RETURN d {.key, .namespace, .name, .title, .symlinks, .symlink_types} AS dataset,
  s {.digest, .columns, .data_types, .nullable, .first_seen, .last_seen} AS schema

// by_key: Schemas of datasets by key, to be compared
UNWIND $given.keys AS key
MATCH (s:HwSchemaVersion {key: key})-[:OF]->(d:HwDataset)
RETURN s.key AS key, d {.key, .namespace, .name, .title, .symlinks, .symlink_types} AS dataset,
  s {.digest, .columns, .data_types, .nullable, .first_seen, .last_seen} AS schema

// latest: The latest schemas of a dataset by any of its names, and their number
MATCH (d:HwDataset)<-[:OF]-(s:HwSchemaVersion)
USING INDEX SEEK d:HwDataset(key)
WHERE d.key IN $given.keys
WITH s ORDER BY s.last_seen DESC, s.first_seen DESC, s.key
WITH collect(s) AS schemas
UNWIND schemas[..$given.most] AS s
RETURN s {.digest, .columns, .data_types, .nullable, .first_seen, .last_seen} AS schema, size(schemas) AS total

// of_column: Schemas with a column of a dataset by any of its names, and its type and nullability in each
MATCH (d:HwDataset)<-[:OF]-(s:HwSchemaVersion)
USING INDEX SEEK d:HwDataset(key)
WHERE d.key IN $given.keys AND $given.column IN s.columns
WITH s, [at IN range(0, size(s.columns) - 1) WHERE s.columns[at] = $given.column][0] AS at
RETURN s.data_types[at] AS type, s.nullable[at] AS nullable, min(s.first_seen) AS first_seen, max(s.last_seen) AS last_seen
ORDER BY last_seen DESC, first_seen DESC, type, nullable
LIMIT $given.most

// reported: First reports of schemas
UNWIND $given.keys AS key
MATCH (s:HwSchemaVersion {key: key})
RETURN s.key AS key, s.first_seen AS first_seen
