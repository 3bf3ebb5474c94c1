// Columns that are made from a sensitive one, unmasked, and for which nothing is declared
CALL () {
  MATCH (x:Declaration)
  USING INDEX SEEK x:Declaration(key)
  WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.subject_type = 'dataset'
  MATCH (x)-[s:DECLARES]->(source:Column) WHERE s.sensitivity IN $given.sensitive
  MATCH (source)-[e:DERIVES]->(c:Column)<-[h:HAS_COLUMN]-(d:Dataset)
  WHERE e.type = 'DIRECT' AND coalesce(e.masking, false) = false AND coalesce(d.dropped, false) = false AND h.current = true
    AND coalesce(d.classification, '') = '' AND NOT id(e) IN $given.reviewed
    AND NOT EXISTS { (c)<-[o:DECLARES]-(:Declaration {current: true})
      WHERE o.sensitivity IS NOT NULL OR coalesce(o.classification, '') <> '' }
    AND NOT EXISTS { (d)<-[:DECLARES]-(o:Declaration {current: true})
      WHERE o.sensitivity IS NOT NULL OR coalesce(o.classification, '') <> '' }
  WITH c, d, min(source.key) AS from, min(s.sensitivity) AS sensitivity
  WITH c, d, from, sensitivity, c.key AS id, d.key AS subject
  RETURN count(*) AS total, count(CASE WHEN subject IN $given.exempt THEN 1 END) AS exempted
}
RETURN total, exempted, COLLECT {
  MATCH (x:Declaration)
  USING INDEX SEEK x:Declaration(key)
  WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.subject_type = 'dataset'
  MATCH (x)-[s:DECLARES]->(source:Column) WHERE s.sensitivity IN $given.sensitive
  MATCH (source)-[e:DERIVES]->(c:Column)<-[h:HAS_COLUMN]-(d:Dataset)
  WHERE e.type = 'DIRECT' AND coalesce(e.masking, false) = false AND coalesce(d.dropped, false) = false AND h.current = true
    AND coalesce(d.classification, '') = '' AND NOT id(e) IN $given.reviewed
    AND NOT EXISTS { (c)<-[o:DECLARES]-(:Declaration {current: true})
      WHERE o.sensitivity IS NOT NULL OR coalesce(o.classification, '') <> '' }
    AND NOT EXISTS { (d)<-[:DECLARES]-(o:Declaration {current: true})
      WHERE o.sensitivity IS NOT NULL OR coalesce(o.classification, '') <> '' }
  WITH c, d, min(source.key) AS from, min(s.sensitivity) AS sensitivity
  WITH c, d, from, sensitivity, c.key AS id, d.key AS subject
  WITH * WHERE NOT subject IN $given.exempt AND id > $given.after
  WITH * ORDER BY id LIMIT $given.limit
  MATCH (source:Column {key: from})<-[:HAS_COLUMN]-(of:Dataset)
  RETURN {id: id, kind: 'DATASET', subject: d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type, .owners}, column: c.name, sensitivity: sensitivity, source: source.name,
    dataset: of {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type}} AS row
  ORDER BY row.id
} AS found
