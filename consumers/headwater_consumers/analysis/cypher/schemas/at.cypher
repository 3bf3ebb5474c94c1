// The schemas of datasets that were reported last by a time
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
