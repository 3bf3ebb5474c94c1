// What these datasets feed, one level of an impact, and what a policy asks of what is fed
CALL () {
  UNWIND $given.nodes AS node
  MATCH (a)-[:GOES_INTO*0..1]->()-[f:FEEDS]->(b) WHERE id(a) = node
  RETURN collect(node) AS sources, collect(id(b)) AS targets, collect(id(f)) AS edges, collect(f.job) AS jobs,
    collect(DISTINCT b) AS fed
}
RETURN sources, targets, edges, jobs, [b IN fed | id(b)] AS nodes, [b IN fed | b.key] AS keys,
  [b IN fed | coalesce(b.type, '')] AS types, [b IN fed | coalesce(b.criticality, '')] AS criticalities
