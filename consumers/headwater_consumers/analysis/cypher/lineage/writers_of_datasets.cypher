// Plans that write these datasets
UNWIND $nodes AS node
MATCH (d:Dataset) WHERE id(d) = node
CALL (d) {
  MATCH (d)<-[e:INFLUENCES|GENERATES]-() RETURN e.plan AS plan
  UNION
  MATCH (d)-[:HAS_COLUMN]->(:Column)<-[e:DERIVES|GENERATES]-() RETURN e.plan AS plan
}
RETURN node, collect(plan) AS plans
