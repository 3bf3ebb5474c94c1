// Columns of datasets, as they are now or were at a time
UNWIND $given.nodes AS node
MATCH (d:HwDataset)-[r:HAS_COLUMN]->(c:HwColumn) WHERE id(d) = node
  AND CASE WHEN $given.as_of IS NULL THEN r.last_seen IS NULL
      ELSE coalesce(r.first_seen <= $given.as_of, true) AND coalesce(r.last_seen >= $given.as_of, true) END
RETURN collect(node) AS sources, collect(id(c)) AS targets, collect(id(r)) AS edges
