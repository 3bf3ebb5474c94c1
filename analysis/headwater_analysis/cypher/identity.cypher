// aliases: Datasets that have these other names, by the keys that datasets of these names would have
MATCH (a:HwAlias) WHERE a.dataset IN $given.keys AND a.tenant = $given.tenant
MATCH (a)<-[:KNOWN_AS]-(d:HwDataset)
RETURN DISTINCT d.key AS key ORDER BY key LIMIT $given.most

// around: Datasets by key, with their aliases and renames, which may make them identical to other datasets
UNWIND $given.keys AS key
MATCH (d:HwDataset {key: key}) WHERE d.tenant = $given.tenant
RETURN id(d) AS id, d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type, dropped: coalesce(d.dropped, false)} AS properties,
  CASE WHEN d.dropped THEN d.dropped_at END AS dropped_at,
  CASE WHEN d.dropped THEN EXISTS { (d)<-[w:WRITES]-(:HwJob) WHERE w.last_seen > d.dropped_at } ELSE false END AS revived,
  COLLECT {
    // Two patterns: a single pattern would leave out the dataset itself, which may be the only one with the name.
    MATCH (d)-[:KNOWN_AS]->(a:HwAlias) MATCH (a)<-[k:KNOWN_AS]-(c)
    RETURN [a.key, a.dataset, c.key, k.type, a.namespace, a.name] ORDER BY a.key, c.key LIMIT $given.most
  } + COLLECT {
    MATCH (a:HwAlias {dataset: key})<-[k:KNOWN_AS]-(c)
    RETURN [a.key, a.dataset, c.key, k.type, a.namespace, a.name] ORDER BY c.key LIMIT $given.most
  } AS claims,
  COLLECT {
    MATCH (d)-[r:RENAMED_TO]-()
    WITH r ORDER BY startNode(r).key, endNode(r).key LIMIT $given.most
    RETURN [startNode(r).key, endNode(r).key, r.last_seen]
  } AS renames

// column_changes: Columns of datasets of which some were renamed or dropped, and when
UNWIND $given.keys AS key
MATCH (d:HwDataset {key: key})
WITH d,
  COLLECT { MATCH (d)-[:HAS_COLUMN]->(c)-[r:RENAMED_TO]->(to:HwColumn) RETURN [c.name, to.name, r.first_seen, r.last_seen] }
  + COLLECT { MATCH (d)-[r:DROPPED]->(c) RETURN [c.name, null, r.first_seen, r.last_seen] } AS changes
WHERE size(changes) > 0
RETURN d.key AS key, changes,
  COLLECT { MATCH (d)-[h:HAS_COLUMN]->(c) RETURN [c.name, h.first_seen, h.last_seen, coalesce(h.current, false)] } AS columns

// columns: Columns of datasets by their paths in lower case, columns of the latest schema first; and whether case distinguishes columns
UNWIND $given.wanted AS wanted
MATCH (d:HwDataset {key: wanted[0]})
RETURN d.key AS dataset,
  COLLECT {
    MATCH (d)-[r:HAS_COLUMN]->(c:HwColumn)
    WHERE toLower(c.name) IN wanted[1]
    RETURN [id(c), c.name] ORDER BY r.last_seen IS NOT NULL, c.name
  } AS columns,
  EXISTS {
    MATCH (d)<-[:OF]-(s:HwSchemaVersion)
    WHERE size(COLLECT { UNWIND s.columns AS path RETURN DISTINCT toLower(path) }) < size(s.columns)
  } AS by_case

// several: Datasets that may be identical to others: they share an alias, have another's alias as name, or were renamed
CALL () {
  MATCH (a:HwAlias)
  USING INDEX SEEK a:HwAlias(key)
  WHERE a.key > '' AND a.tenant = $given.tenant
  CALL (a) {
    MATCH (a)<-[:KNOWN_AS]-(d:HwDataset)
    RETURN d.key AS key
    UNION
    MATCH (d:HwDataset {key: a.dataset})
    RETURN d.key AS key
  }
  WITH a, collect(key) AS found
  WHERE size(found) > 1
  UNWIND found AS key
  RETURN key
  UNION
  MATCH (d:HwDataset)
  USING INDEX SEEK d:HwDataset(key)
  WHERE d.key > '' AND d.tenant = $given.tenant AND EXISTS { (d)-[:RENAMED_TO]-() }
  RETURN d.key AS key
}
RETURN collect(DISTINCT key) AS keys

// spellings: Columns of the datasets of some columns, if these have columns that differ only by case and no schema has both
UNWIND $given.nodes AS node
MATCH (n:HwColumn) WHERE id(n) = node
WITH DISTINCT n.dataset AS key
MATCH (d:HwDataset {key: key})
WHERE size(COLLECT { MATCH (d)-[:HAS_COLUMN]->(c:HwColumn) RETURN DISTINCT toLower(c.name) }) < COUNT { (d)-[:HAS_COLUMN]->(:HwColumn) }
  AND NOT EXISTS {
    MATCH (d)<-[:OF]-(s:HwSchemaVersion)
    WHERE size(COLLECT { UNWIND s.columns AS path RETURN DISTINCT toLower(path) }) < size(s.columns)
  }
RETURN COLLECT { MATCH (d)-[r:HAS_COLUMN]->(c:HwColumn) RETURN [id(c), c.name] ORDER BY r.last_seen IS NOT NULL, c.name } AS columns

// times: First and last observation of hops between datasets
UNWIND $given.edges AS edge
MATCH ()-[f:FEEDS]->() WHERE id(f) = edge
RETURN edge, f.first_seen AS first, f.last_seen AS last

// touched: Datasets among these nodes, or datasets of these columns, that may be identical to others
UNWIND $given.nodes AS node
MATCH (n) WHERE id(n) = node
WITH node, coalesce(n.dataset, n.key) AS key, CASE WHEN n:HwColumn THEN n.name END AS path
MATCH (d:HwDataset {key: key})
WHERE EXISTS { (d)-[:RENAMED_TO]-() }
  OR EXISTS { MATCH (d)-[:KNOWN_AS]->(a:HwAlias) MATCH (a)<-[:KNOWN_AS]-(o) WHERE o <> d }
  OR EXISTS { MATCH (d)-[:KNOWN_AS]->(a:HwAlias) MATCH (o:HwDataset {key: a.dataset}) WHERE o <> d }
  OR EXISTS { MATCH (a:HwAlias {dataset: key}) MATCH (a)<-[:KNOWN_AS]-(o) WHERE o <> d }
  OR (path IS NOT NULL AND (EXISTS { (d)-[:DROPPED]->() } OR EXISTS { (d)-[:HAS_COLUMN]->()-[:RENAMED_TO]->() }))
RETURN collect([node, key, path]) AS touched
