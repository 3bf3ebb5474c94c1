// Orphans: datasets that no job reads or writes, jobs without either
// No rows is good news.
MATCH (orphan:HwDataset|HwJob)
WHERE NOT (orphan)-[:READS|WRITES]-()
  AND NOT (orphan:HwJob AND (orphan)<-[:OF]-(:HwRun)<-[:CHILD_OF]-(:HwRun))
RETURN labels(orphan)[0] AS what, orphan.name AS name, orphan.namespace AS namespace, orphan.dropped AS dropped
ORDER BY what, name
LIMIT 300
