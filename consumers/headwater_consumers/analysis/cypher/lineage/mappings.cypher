// What hops between datasets do to columns
UNWIND $given.hops AS hop
MATCH (s:HwDataset) WHERE id(s) = hop[0]
MATCH (t:HwDataset) WHERE id(t) = hop[1]
CALL (s, t, hop) {
  MATCH (t)<-[e:INFLUENCES]-(a)
  WHERE e.job IN hop[2] AND (a = s OR a.dataset = s.key)
  RETURN e, CASE WHEN a = s THEN null ELSE a.name END AS source, null AS target, id(t) AS node
  UNION ALL
  MATCH (t)-[:HAS_COLUMN]->(c:HwColumn)<-[e:DERIVES]-(a)
  WHERE e.job IN hop[2] AND (a = s OR a.dataset = s.key)
  RETURN e, CASE WHEN a = s THEN null ELSE a.name END AS source, c.name AS target, id(c) AS node
}
RETURN hop[0] AS from, hop[1] AS to, source, target, node, id(e) AS edge, e.key AS key, e.plan AS plan, e.job AS job,
  e.type AS type, e.kind AS kind, e.subtype AS subtype, e.masking AS masking, e.expression AS expression
