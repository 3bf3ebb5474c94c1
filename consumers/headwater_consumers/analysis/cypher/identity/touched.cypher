// Which of these datasets, or of the owners of these columns, may be one with others
UNWIND $given.nodes AS node
MATCH (n) WHERE id(n) = node
WITH node, coalesce(n.dataset, n.key) AS key, CASE WHEN n:HwColumn THEN n.name END AS path
MATCH (d:HwDataset {key: key})
WHERE EXISTS { (d)-[:RENAMED_TO]-() }
  OR EXISTS { MATCH (d)-[:KNOWN_AS]->(a) MATCH (a)<-[:KNOWN_AS]-(o) WHERE o <> d }
  OR EXISTS { MATCH (d)-[:KNOWN_AS]->(a) MATCH (o:HwDataset {key: a.dataset}) WHERE o <> d }
  OR EXISTS { MATCH (a:HwAlias {dataset: key}) MATCH (a)<-[:KNOWN_AS]-(o) WHERE o <> d }
  OR (path IS NOT NULL AND (EXISTS { (d)-[:DROPPED]->() } OR EXISTS { (d)-[:HAS_COLUMN]->()-[:RENAMED_TO]->() }))
RETURN collect([node, key, path]) AS touched
