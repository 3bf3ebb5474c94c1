// Find datasets, columns and jobs by a part of their name
WITH toLower('delay') AS part
MATCH (found:HwDataset|HwColumn|HwJob)
WHERE toLower(found.name) CONTAINS part
OPTIONAL MATCH (owner:HwDataset)-[:HAS_COLUMN]->(found)
RETURN labels(found)[0] AS what, found.name AS name, coalesce(owner.title, found.namespace) AS of
ORDER BY what DESC, size(name), name
LIMIT 100
