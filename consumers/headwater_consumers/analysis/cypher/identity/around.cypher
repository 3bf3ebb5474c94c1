// Datasets by key, with all that may make them one with others
UNWIND $given.keys AS key
MATCH (d:HwDataset {key: key}) WHERE d.tenant = $given.tenant
RETURN id(d) AS id, d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type, dropped: coalesce(d.dropped, false)} AS properties,
  CASE WHEN d.dropped THEN d.dropped_at END AS dropped_at,
  CASE WHEN d.dropped THEN EXISTS { (d)<-[w:WRITES]-(:HwJob) WHERE w.last_seen > d.dropped_at } ELSE false END AS revived,
  COLLECT {
    // Two patterns, as one would leave out the dataset itself: it may be the only one with the name.
    MATCH (d)-[:KNOWN_AS]->(a) MATCH (a)<-[k:KNOWN_AS]-(c)
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
