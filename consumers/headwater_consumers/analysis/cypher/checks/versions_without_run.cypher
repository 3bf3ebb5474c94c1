// Versions of tables that jobs write, which no run or micro-batch is known to have written, by any name of the table
CALL () {
  MATCH (v:HwVersion)
  USING INDEX SEEK v:HwVersion(key)
  WHERE v.key > '' AND v.tenant = $given.tenant AND v.format <> 'files' AND NOT EXISTS { (v)<-[:WROTE]-() }
  MATCH (v)-[:OF]->(named:HwDataset)
  WITH v, coalesce($given.names[named.key], [named.key]) AS names
  WHERE EXISTS { UNWIND names AS name MATCH (:HwDataset {key: name})<-[:WRITES {observed: true}]-(:HwJob) }
    AND NOT EXISTS { UNWIND names AS name MATCH (:HwDataset {key: name})<-[:PRODUCED]-(:HwSummary) }
    AND (size(names) = 1 OR NOT EXISTS { UNWIND names AS name
      MATCH (:HwDataset {key: name})<-[:OF]-(o:HwVersion)<-[:WROTE]-() WHERE o.version = v.version AND o.format = v.format })
  WITH names[0] AS subject, v.format AS format, v.version AS version, min(v.key) AS id
  WITH subject, CASE WHEN subject IN $given.exempt THEN subject END AS exempt
  RETURN count(*) AS total, count(exempt) AS exempted, collect(DISTINCT exempt) AS met
}
CALL (total, exempted) {
  WITH total, exempted WHERE total > exempted
  MATCH (v:HwVersion)
  USING INDEX SEEK v:HwVersion(key)
  WHERE v.key > '' AND v.tenant = $given.tenant AND v.format <> 'files' AND NOT EXISTS { (v)<-[:WROTE]-() }
  MATCH (v)-[:OF]->(named:HwDataset)
  WITH v, coalesce($given.names[named.key], [named.key]) AS names
  WHERE EXISTS { UNWIND names AS name MATCH (:HwDataset {key: name})<-[:WRITES {observed: true}]-(:HwJob) }
    AND NOT EXISTS { UNWIND names AS name MATCH (:HwDataset {key: name})<-[:PRODUCED]-(:HwSummary) }
    AND (size(names) = 1 OR NOT EXISTS { UNWIND names AS name
      MATCH (:HwDataset {key: name})<-[:OF]-(o:HwVersion)<-[:WROTE]-() WHERE o.version = v.version AND o.format = v.format })
  WITH names[0] AS subject, v.format AS format, v.version AS version, min(v.key) AS id
  WITH * WHERE NOT subject IN $given.exempt AND id > $given.after
  WITH * ORDER BY id LIMIT $given.limit
  MATCH (d:HwDataset {key: subject})
  WITH {id: id, kind: 'DATASET', subject: d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type, .owners}, format: format, version: version} AS row
  ORDER BY row.id
  RETURN collect(row) AS found
}
RETURN total, exempted, met, found
