// Columns of a dataset by any of its names: those of its schema now, then those that left it or that only plans name
UNWIND range(0, size($given.keys) - 1) AS n
MATCH (d:HwDataset)-[r:HAS_COLUMN]->(c:HwColumn)
USING INDEX SEEK d:HwDataset(key)
WHERE d.key = $given.keys[n]
WITH n, c, r ORDER BY n
WITH c.name AS name, collect({column: c {.key, .name, .data_type, .nullable, .description, .position},
  link: r {.current, .first_seen, .last_seen}})[0] AS first
WITH first.column AS column, first.link AS link
RETURN column, link
ORDER BY coalesce(link.current, false) DESC, column.position IS NULL, column.position, column.name LIMIT $given.most
