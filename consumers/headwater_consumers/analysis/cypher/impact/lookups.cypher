// Columns whose values are looked up by these join keys
UNWIND $given.edges AS edge
MATCH (k:HwColumn)-[e:INFLUENCES]->(d:HwDataset) WHERE id(e) = edge
MATCH (d)<-[o:INFLUENCES]-(other:HwColumn)
WHERE o.plan = e.plan AND o.kind = e.kind AND o.expression_id = e.expression_id AND other.dataset <> k.dataset
WITH edge, d, e.plan AS plan, k, collect(DISTINCT other) AS others
WITH edge, d, plan, k, others,
  EXISTS { MATCH (k)-[v:DERIVES]->(c) WHERE v.plan = plan AND v.type = 'DIRECT' AND c.dataset = d.key } AS kept,
  any(other IN others WHERE
    EXISTS { MATCH (other)-[v:DERIVES]->(c) WHERE v.plan = plan AND v.type = 'DIRECT' AND c.dataset = d.key }) AS theirs
WITH edge, d, plan,
  CASE WHEN theirs AND NOT kept THEN [k.dataset] ELSE [other IN others | other.dataset] END AS sides
MATCH (d)-[:HAS_COLUMN]->(c:HwColumn)<-[v:DERIVES]-(s)
WHERE v.plan = plan AND v.type = 'DIRECT' AND coalesce(s.dataset, s.key) IN sides
RETURN edge, collect(DISTINCT id(c)) AS targets
