// Columns of datasets' schemas, and when each was in one
MATCH (d:HwDataset)-[r:HAS_COLUMN]->(c:HwColumn)
WHERE d.key IN $given.datasets AND r.first_seen IS NOT NULL
RETURN d {.key, .namespace, .name, .title, .symlinks, .symlink_types} AS dataset, c {.key, .name, .data_type} AS column, r.first_seen AS first_seen,
  CASE WHEN r.current THEN null ELSE r.last_seen END AS last_seen
LIMIT $given.limit
