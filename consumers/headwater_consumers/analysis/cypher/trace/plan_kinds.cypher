// Whether plans aggregate, group, window or join into some datasets
UNWIND $given.plans AS plan
MATCH (p:Plan {key: plan.key})
RETURN plan.n AS n, p.complete AS complete,
  COLLECT {
    MATCH (d:Dataset)<-[e:INFLUENCES]-() WHERE d.key IN plan.datasets AND e.plan = plan.key AND e.kind IN $given.kinds
    RETURN DISTINCT e.kind
  } + COLLECT {
    MATCH (d:Dataset)-[:HAS_COLUMN]->(:Column)<-[e:DERIVES]-()
    WHERE d.key IN plan.datasets AND e.plan = plan.key AND e.kind IN $given.kinds
    RETURN DISTINCT e.kind
  } AS kinds
