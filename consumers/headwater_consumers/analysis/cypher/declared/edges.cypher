// Edges of plans that jobs declare, with the names of what each connects
UNWIND $given.plans AS plan
CALL (plan) {
  MATCH (:HwPlan {key: plan})-[:OF]->(:HwJob)-[:WRITES {declared: true}]->(into:HwDataset)-[:HAS_COLUMN]->(target:HwColumn)<-[e:DERIVES]-(source)
  WHERE e.plan = plan
  RETURN into, target.name AS column, source, e
  UNION ALL
  MATCH (:HwPlan {key: plan})-[:OF]->(:HwJob)-[:WRITES {declared: true}]->(into:HwDataset)<-[e:INFLUENCES]-(source)
  WHERE e.plan = plan
  RETURN into, null AS column, source, e
}
MATCH (of:HwDataset {key: coalesce(source.dataset, source.key)})
RETURN plan, into.namespace AS namespace, into.name AS name, column, of.namespace AS source_namespace, of.name AS source_name,
  CASE WHEN source:HwColumn THEN source.name END AS source_column, e.kind AS kind, e.masking AS masking, e.expression AS expression
