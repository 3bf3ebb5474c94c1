// Edges of plans of a job: into columns of the datasets that it writes, into these as a whole, and from nothing
CALL () {
  MATCH (:HwJob {key: $given.job})-[:WRITES]->(:HwDataset)-[:HAS_COLUMN]->(target:HwColumn)<-[e:DERIVES]-(source)
  WHERE e.plan IN $given.plans
  RETURN e, source.key AS source, source:HwColumn AS from_column, target
 UNION ALL
  MATCH (:HwJob {key: $given.job})-[:WRITES]->(target:HwDataset)<-[e:INFLUENCES]-(source)
  WHERE e.plan IN $given.plans
  RETURN e, source.key AS source, source:HwColumn AS from_column, target
 UNION ALL
  MATCH (p:HwPlan)-[e:GENERATES]->(target)
  WHERE p.key IN $given.plans
  RETURN e, null AS source, false AS from_column, target
}
WITH e, source, from_column, target LIMIT $given.limit
RETURN e.plan AS plan, source, from_column, target.key AS target, target:HwColumn AS into_column,
  coalesce(target.dataset, target.key) AS dataset, e.type AS type, e.subtype AS subtype, e.kind AS kind,
  e.masking AS masking, e.expression AS expression, e.expression_id AS expression_id
