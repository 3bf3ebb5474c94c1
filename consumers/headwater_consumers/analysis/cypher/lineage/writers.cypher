// Plans that write these columns, or these datasets
UNWIND $nodes AS node
MATCH (n) WHERE id(n) = node
CALL (n) {
  MATCH (n)<-[e:DERIVES|INFLUENCES|GENERATES]-() RETURN e.plan AS plan
  UNION
  MATCH (n)-[:HAS_COLUMN]->(:Column)<-[e:DERIVES|GENERATES]-() RETURN e.plan AS plan
}
WITH node, collect(plan) AS plans
RETURN collect([node, plans]) AS written
