// Consumers for which nobody is declared as owner
CALL () {
  MATCH (c:HwConsumer)
  USING INDEX SEEK c:HwConsumer(key)
  WHERE c.key > '' AND c.tenant = $given.tenant AND EXISTS { (c)<-[:DECLARES]-(:HwDeclaration {current: true}) }
    AND NOT EXISTS { (c)<-[:DECLARES]-(x:HwDeclaration {current: true}) WHERE size(coalesce(x.owners, [])) > 0 }
  WITH c, c.key AS id, c.key AS subject
  WITH subject, CASE WHEN subject IN $given.exempt THEN subject END AS exempt
  RETURN count(*) AS total, count(exempt) AS exempted, collect(DISTINCT exempt) AS met
}
CALL (total, exempted) {
  WITH total, exempted WHERE total > exempted
  MATCH (c:HwConsumer)
  USING INDEX SEEK c:HwConsumer(key)
  WHERE c.key > '' AND c.tenant = $given.tenant AND EXISTS { (c)<-[:DECLARES]-(:HwDeclaration {current: true}) }
    AND NOT EXISTS { (c)<-[:DECLARES]-(x:HwDeclaration {current: true}) WHERE size(coalesce(x.owners, [])) > 0 }
  WITH c, c.key AS id, c.key AS subject
  WITH * WHERE NOT subject IN $given.exempt AND id > $given.after
  WITH * ORDER BY id LIMIT $given.limit
  WITH {id: id, kind: 'CONSUMER', subject: c {.key, .name}} AS row
  ORDER BY row.id
  RETURN collect(row) AS found
}
RETURN total, exempted, met, found
