// Datasets as they are drawn, and how many neighbours of each are not
UNWIND $given.nodes AS node
MATCH (n:HwDataset) WHERE id(n) = node
RETURN node, n {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type} AS properties, coalesce(n.dropped, false) AS gone,
  coalesce(n.owners, []) AS owners, coalesce(n.tags, []) AS tags, coalesce(n.tag_values, []) AS tag_values,
  n.criticality AS criticality, n.classification AS classification,
  COLLECT { MATCH (n)<-[:WRITES]-(j:HwJob) UNWIND coalesce(j.owners, []) AS owner
    RETURN DISTINCT owner ORDER BY owner LIMIT 20 } AS owners_of_jobs,
  COUNT { MATCH (n)<-[:FEEDS]-()<-[:GOES_INTO*0..1]-(m:HwDataset) WHERE NOT id(m) IN $given.nodes RETURN DISTINCT m } AS more_upstream,
  COUNT { MATCH (n)-[:GOES_INTO*0..1]->()-[:FEEDS]->(m:HwDataset) WHERE NOT id(m) IN $given.nodes RETURN DISTINCT m } AS more_downstream
