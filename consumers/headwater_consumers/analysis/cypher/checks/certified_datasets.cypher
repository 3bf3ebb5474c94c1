// Datasets that are declared certified, and lack what others rely on
CALL () {
  MATCH (x:Declaration)
  USING INDEX SEEK x:Declaration(key)
  WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.certified = true AND x.subject_type = 'dataset'
  MATCH (x)-[:DECLARES]->(d:Dataset)
  WITH DISTINCT d
  WITH d, [each IN [
    CASE WHEN size(coalesce(d.owners, [])) = 0
      AND NOT EXISTS { (d)<-[:DECLARES]-(o:Declaration {current: true}) WHERE size(coalesce(o.owners, [])) > 0 } THEN 'owner' END,
    CASE WHEN NOT EXISTS { (d)<-[:DECLARES]-(o:Declaration {current: true})
      WHERE o.freshness_seconds IS NOT NULL OR o.deadline IS NOT NULL } THEN 'SLO' END,
    CASE WHEN NOT EXISTS { (d)-[:HAS_COLUMN]->(:Column)<-[:DERIVES|GENERATES]-() } THEN 'column lineage' END,
    CASE WHEN NOT EXISTS { (d)<-[:PRODUCED]-() } THEN 'run' END] WHERE each IS NOT NULL] AS lacks
  WHERE size(lacks) > 0
  WITH d, lacks, d.key AS id, d.key AS subject
  RETURN count(*) AS total, count(CASE WHEN subject IN $given.exempt THEN 1 END) AS exempted
}
RETURN total, exempted, COLLECT {
  MATCH (x:Declaration)
  USING INDEX SEEK x:Declaration(key)
  WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.certified = true AND x.subject_type = 'dataset'
  MATCH (x)-[:DECLARES]->(d:Dataset)
  WITH DISTINCT d
  WITH d, [each IN [
    CASE WHEN size(coalesce(d.owners, [])) = 0
      AND NOT EXISTS { (d)<-[:DECLARES]-(o:Declaration {current: true}) WHERE size(coalesce(o.owners, [])) > 0 } THEN 'owner' END,
    CASE WHEN NOT EXISTS { (d)<-[:DECLARES]-(o:Declaration {current: true})
      WHERE o.freshness_seconds IS NOT NULL OR o.deadline IS NOT NULL } THEN 'SLO' END,
    CASE WHEN NOT EXISTS { (d)-[:HAS_COLUMN]->(:Column)<-[:DERIVES|GENERATES]-() } THEN 'column lineage' END,
    CASE WHEN NOT EXISTS { (d)<-[:PRODUCED]-() } THEN 'run' END] WHERE each IS NOT NULL] AS lacks
  WHERE size(lacks) > 0
  WITH d, lacks, d.key AS id, d.key AS subject
  WITH * WHERE NOT subject IN $given.exempt AND id > $given.after
  WITH * ORDER BY id LIMIT $given.limit
  RETURN {id: id, kind: 'DATASET', subject: d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type, .owners}, lacks: lacks} AS row
  ORDER BY row.id
} AS found
