// Plans that write these columns
UNWIND $nodes AS node
MATCH (c:Column)<-[e:DERIVES|GENERATES]-() WHERE id(c) = node
RETURN node, collect(DISTINCT e.plan) AS plans
