// All hops between datasets that are drawn
UNWIND $given.nodes AS node
MATCH (a)-[:GOES_INTO*0..1]->()-[f:FEEDS]->(b) WHERE id(a) = node AND id(b) IN $given.nodes
RETURN id(a) AS source, id(b) AS target, id(f) AS edge, f.job AS job, f.first_seen AS first_seen, f.last_seen AS last_seen,
  coalesce(f.observed, false) AS observed, coalesce(f.declared, false) AS declared,
  coalesce(f.possible, false) AS possible
ORDER BY a.key, b.key, f.job
