// Datasets that are there, and that no job and no consumer uses under any of their names
CALL () {
  MATCH (d:HwDataset)
  USING INDEX SEEK d:HwDataset(key)
  WHERE d.key > '' AND d.tenant = $given.tenant AND coalesce(d.dropped, false) = false
    AND coalesce($given.names[d.key][0], d.key) = d.key
    AND NOT EXISTS { (d)<-[:READS|WRITES]-() } AND NOT EXISTS { (d)<-[:CONSUMES]-() }
    AND NOT EXISTS { (d)<-[:CONSUMED|PRODUCED]-() }
    AND NOT EXISTS { (d)<-[:RENAMED_TO]-(before) WHERE NOT before.key IN coalesce($given.names[d.key], []) }
    AND NOT EXISTS { (d)-[:KNOWN_AS]->(:HwAlias)<-[:KNOWN_AS]-(other:HwDataset)<-[:READS|WRITES]-() WHERE other <> d }
    AND NOT EXISTS { (d)<-[:DECLARES]-(:HwDeclaration {current: true, reference: true}) }
    AND NOT EXISTS { UNWIND tail($given.names[d.key]) AS name MATCH (other:HwDataset {key: name})
      WHERE EXISTS { (other)<-[:READS|WRITES]-() } OR EXISTS { (other)<-[:CONSUMES]-() }
        OR EXISTS { (other)<-[:CONSUMED|PRODUCED]-() }
        OR EXISTS { (other)<-[:DECLARES]-(:HwDeclaration {current: true, reference: true}) } }
  WITH d, d.key AS id, d.key AS subject
  WITH subject, CASE WHEN subject IN $given.exempt THEN subject END AS exempt
  RETURN count(*) AS total, count(exempt) AS exempted, collect(DISTINCT exempt) AS met
}
CALL (total, exempted) {
  WITH total, exempted WHERE total > exempted
  MATCH (d:HwDataset)
  USING INDEX SEEK d:HwDataset(key)
  WHERE d.key > '' AND d.tenant = $given.tenant AND coalesce(d.dropped, false) = false
    AND coalesce($given.names[d.key][0], d.key) = d.key
    AND NOT EXISTS { (d)<-[:READS|WRITES]-() } AND NOT EXISTS { (d)<-[:CONSUMES]-() }
    AND NOT EXISTS { (d)<-[:CONSUMED|PRODUCED]-() }
    AND NOT EXISTS { (d)<-[:RENAMED_TO]-(before) WHERE NOT before.key IN coalesce($given.names[d.key], []) }
    AND NOT EXISTS { (d)-[:KNOWN_AS]->(:HwAlias)<-[:KNOWN_AS]-(other:HwDataset)<-[:READS|WRITES]-() WHERE other <> d }
    AND NOT EXISTS { (d)<-[:DECLARES]-(:HwDeclaration {current: true, reference: true}) }
    AND NOT EXISTS { UNWIND tail($given.names[d.key]) AS name MATCH (other:HwDataset {key: name})
      WHERE EXISTS { (other)<-[:READS|WRITES]-() } OR EXISTS { (other)<-[:CONSUMES]-() }
        OR EXISTS { (other)<-[:CONSUMED|PRODUCED]-() }
        OR EXISTS { (other)<-[:DECLARES]-(:HwDeclaration {current: true, reference: true}) } }
  WITH d, d.key AS id, d.key AS subject
  WITH * WHERE NOT subject IN $given.exempt AND id > $given.after
  WITH * ORDER BY id LIMIT $given.limit
  WITH {id: id, kind: 'DATASET', subject: d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type, .owners}} AS row
  ORDER BY row.id
  RETURN collect(row) AS found
}
RETURN total, exempted, met, found
