// When a dataset or column was first seen, by any job, query or schema; a column that no schema has, with its dataset
MATCH (n) WHERE id(n) = $given.node
WITH n, head([(d:HwDataset)-[h:HAS_COLUMN]->(n) | [d, h.first_seen]]) AS owner
WITH owner[1] AS first, coalesce(owner[0], n) AS d
WITH first, [()-[l:READS|WRITES]->(d) | l.first_seen] + [(d)-[h:HAS_COLUMN]->() | h.first_seen] AS times
RETURN coalesce(first, reduce(least = null, t IN times | CASE WHEN least <= t OR t IS NULL THEN least ELSE t END)) AS first
