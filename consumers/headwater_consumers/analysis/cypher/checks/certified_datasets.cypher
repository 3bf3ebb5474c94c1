// Datasets that are declared certified, and lack what others rely on under each of their names
CALL () {
  MATCH (x:HwDeclaration)
  USING INDEX SEEK x:HwDeclaration(key)
  WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.certified = true AND x.subject_type = 'dataset'
  MATCH (x)-[:DECLARES]->(named:HwDataset)
  WITH DISTINCT coalesce($given.names[named.key], [named.key]) AS names
  CALL (names) {
    UNWIND names AS name
    MATCH (d:HwDataset {key: name})
    WITH size(coalesce(d.owners, [])) > 0
        OR EXISTS { (d)<-[:DECLARES]-(o:HwDeclaration {current: true}) WHERE size(coalesce(o.owners, [])) > 0 } AS owned,
      EXISTS { (d)<-[:DECLARES]-(o:HwDeclaration {current: true})
        WHERE o.freshness_seconds IS NOT NULL OR o.deadline IS NOT NULL } AS promised,
      EXISTS { (d)-[:HAS_COLUMN]->(:HwColumn)<-[:DERIVES|GENERATES]-() } AS made, EXISTS { (d)<-[:PRODUCED]-() } AS written
    RETURN max(owned) AS owner, max(promised) AS slo, max(made) AS lineage, max(written) AS run
  }
  WITH names[0] AS id, names[0] AS subject, [each IN [CASE WHEN NOT owner THEN 'owner' END, CASE WHEN NOT slo THEN 'SLO' END,
    CASE WHEN NOT lineage THEN 'column lineage' END, CASE WHEN NOT run THEN 'run' END] WHERE each IS NOT NULL] AS lacks
  WHERE size(lacks) > 0
  WITH subject, CASE WHEN subject IN $given.exempt THEN subject END AS exempt
  RETURN count(*) AS total, count(exempt) AS exempted, collect(DISTINCT exempt) AS met
}
CALL (total, exempted) {
  WITH total, exempted WHERE total > exempted
  MATCH (x:HwDeclaration)
  USING INDEX SEEK x:HwDeclaration(key)
  WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.certified = true AND x.subject_type = 'dataset'
  MATCH (x)-[:DECLARES]->(named:HwDataset)
  WITH DISTINCT coalesce($given.names[named.key], [named.key]) AS names
  CALL (names) {
    UNWIND names AS name
    MATCH (d:HwDataset {key: name})
    WITH size(coalesce(d.owners, [])) > 0
        OR EXISTS { (d)<-[:DECLARES]-(o:HwDeclaration {current: true}) WHERE size(coalesce(o.owners, [])) > 0 } AS owned,
      EXISTS { (d)<-[:DECLARES]-(o:HwDeclaration {current: true})
        WHERE o.freshness_seconds IS NOT NULL OR o.deadline IS NOT NULL } AS promised,
      EXISTS { (d)-[:HAS_COLUMN]->(:HwColumn)<-[:DERIVES|GENERATES]-() } AS made, EXISTS { (d)<-[:PRODUCED]-() } AS written
    RETURN max(owned) AS owner, max(promised) AS slo, max(made) AS lineage, max(written) AS run
  }
  WITH names[0] AS id, names[0] AS subject, [each IN [CASE WHEN NOT owner THEN 'owner' END, CASE WHEN NOT slo THEN 'SLO' END,
    CASE WHEN NOT lineage THEN 'column lineage' END, CASE WHEN NOT run THEN 'run' END] WHERE each IS NOT NULL] AS lacks
  WHERE size(lacks) > 0
  WITH * WHERE NOT subject IN $given.exempt AND id > $given.after
  WITH * ORDER BY id LIMIT $given.limit
  MATCH (d:HwDataset {key: subject})
  WITH {id: id, kind: 'DATASET', subject: d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type, .owners}, lacks: lacks} AS row
  ORDER BY row.id
  RETURN collect(row) AS found
}
RETURN total, exempted, met, found
