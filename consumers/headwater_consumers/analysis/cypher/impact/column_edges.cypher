// What these columns go into or decide, one level of an impact
UNWIND $given.nodes AS node
MATCH (a)-[e:DERIVES|INFLUENCES]->(b) WHERE id(a) = node
RETURN collect(node) AS sources, collect(id(b)) AS targets, collect(id(e)) AS edges,
  collect(type(e) = 'INFLUENCES') AS whole, collect(coalesce(e.type, '') = 'DIRECT') AS direct,
  collect(coalesce(e.kind, 'UNKNOWN')) AS kinds, collect(coalesce(e.masking, false)) AS masking, collect(e.plan) AS plans
