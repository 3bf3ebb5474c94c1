// Consumers for which nobody is declared as owner
CALL () {
  MATCH (c:Consumer)
  USING INDEX SEEK c:Consumer(key)
  WHERE c.key > '' AND c.tenant = $given.tenant AND EXISTS { (c)<-[:DECLARES]-(:Declaration {current: true}) }
    AND NOT EXISTS { (c)<-[:DECLARES]-(x:Declaration {current: true}) WHERE size(coalesce(x.owners, [])) > 0 }
  WITH c, c.key AS id, c.key AS subject
  RETURN count(*) AS total, count(CASE WHEN subject IN $given.exempt THEN 1 END) AS exempted
}
RETURN total, exempted, COLLECT {
  MATCH (c:Consumer)
  USING INDEX SEEK c:Consumer(key)
  WHERE c.key > '' AND c.tenant = $given.tenant AND EXISTS { (c)<-[:DECLARES]-(:Declaration {current: true}) }
    AND NOT EXISTS { (c)<-[:DECLARES]-(x:Declaration {current: true}) WHERE size(coalesce(x.owners, [])) > 0 }
  WITH c, c.key AS id, c.key AS subject
  WITH * WHERE NOT subject IN $given.exempt AND id > $given.after
  WITH * ORDER BY id LIMIT $given.limit
  RETURN {id: id, kind: 'CONSUMER', subject: c {.key, .name}} AS row
  ORDER BY row.id
} AS found
