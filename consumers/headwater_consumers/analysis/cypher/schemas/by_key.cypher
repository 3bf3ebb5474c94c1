// Schemas of datasets by key, to be compared
UNWIND $given.keys AS key
MATCH (s:HwSchemaVersion {key: key})-[:OF]->(d:HwDataset)
RETURN s.key AS key, d {.key, .namespace, .name, .title, .symlinks, .symlink_types} AS dataset,
  s {.digest, .columns, .data_types, .nullable, .first_seen, .last_seen} AS schema
