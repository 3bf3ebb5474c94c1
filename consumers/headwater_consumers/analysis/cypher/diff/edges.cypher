// Edges of plans of a job: into columns of the datasets that it writes, into these as a whole, and from nothing
CALL () {
  MATCH (:Job {key: $given.job})-[:WRITES]->(:Dataset)-[:HAS_COLUMN]->(target:Column)<-[e:DERIVES]-(source)
  WHERE e.plan IN $given.plans
  RETURN e, source.key AS source, source:Column AS from_column, target
 UNION ALL
  MATCH (:Job {key: $given.job})-[:WRITES]->(target:Dataset)<-[e:INFLUENCES]-(source)
  WHERE e.plan IN $given.plans
  RETURN e, source.key AS source, source:Column AS from_column, target
 UNION ALL
  MATCH (p:Plan)-[e:GENERATES]->(target)
  WHERE p.key IN $given.plans
  RETURN e, null AS source, false AS from_column, target
}
WITH e, source, from_column, target LIMIT $given.limit
RETURN e.plan AS plan, source, from_column, target.key AS target, target:Column AS into_column,
  coalesce(target.dataset, target.key) AS dataset, e.type AS type, e.subtype AS subtype, e.kind AS kind,
  e.masking AS masking, e.expression AS expression, e.expression_id AS expression_id
