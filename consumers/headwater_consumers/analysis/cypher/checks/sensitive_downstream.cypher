// Columns that are made from a sensitive one, unmasked, and for which nothing is declared under any name of their datasets
CALL () {
  MATCH (x:HwDeclaration)
  USING INDEX SEEK x:HwDeclaration(key)
  WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.subject_type = 'dataset'
  MATCH (x)-[s:DECLARES]->(stated:HwColumn) WHERE s.sensitivity IN $given.sensitive
  CALL (stated) {
    RETURN stated AS source
    UNION
    UNWIND $given.names[stated.dataset] AS name
    MATCH (:HwDataset {key: name})-[:HAS_COLUMN]->(source:HwColumn) WHERE source.name = stated.name
    RETURN source
  }
  CALL (source) {
    RETURN source AS taken
    UNION
    // Whoever takes the struct or payload that it is part of takes it, and who takes a field of it takes a part of it.
    MATCH (:HwDataset {key: source.dataset})-[:HAS_COLUMN]->(taken:HwColumn)
    WHERE source.name STARTS WITH taken.name + '.' OR (taken.name STARTS WITH source.name + '.'
      AND NOT EXISTS { (taken)<-[o:DECLARES]-(:HwDeclaration {current: true}) WHERE o.sensitivity IS NOT NULL })
    RETURN taken
  }
  MATCH (taken)-[e:DERIVES]->(made:HwColumn)
  WHERE e.type = 'DIRECT' AND coalesce(e.masking, false) = false AND NOT id(e) IN $given.reviewed
  WITH made.name AS column, coalesce($given.names[made.dataset], [made.dataset]) AS names,
    min([coalesce($given.names[source.dataset][0], source.dataset), source.name, s.sensitivity]) AS sensitive
  CALL (column, names) {
    UNWIND names AS name
    MATCH (d:HwDataset {key: name})-[h:HAS_COLUMN]->(c:HwColumn) WHERE c.name = column
    WITH c.key AS key, coalesce(h.current, false) AS there, coalesce(d.classification, '') <> ''
      OR EXISTS { (c)<-[o:DECLARES]-(:HwDeclaration {current: true})
        WHERE o.sensitivity IS NOT NULL OR coalesce(o.classification, '') <> '' } AS stated_so
    RETURN min(key) AS id, max(there) AS current, max(stated_so) AS classified
  }
  WITH id, column, names, sensitive, current, classified
  WHERE current AND NOT classified
    AND NOT EXISTS { UNWIND names AS name MATCH (:HwDataset {key: name})<-[:DECLARES]-(o:HwDeclaration {current: true})
      WHERE o.sensitivity IS NOT NULL OR coalesce(o.classification, '') <> '' }
  MATCH (d:HwDataset {key: names[0]}) WHERE coalesce(d.dropped, false) = false
  WITH d, id, column, sensitive, d.key AS subject
  WITH subject, CASE WHEN subject IN $given.exempt THEN subject END AS exempt
  RETURN count(*) AS total, count(exempt) AS exempted, collect(DISTINCT exempt) AS met
}
CALL (total, exempted) {
  WITH total, exempted WHERE total > exempted
  MATCH (x:HwDeclaration)
  USING INDEX SEEK x:HwDeclaration(key)
  WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.subject_type = 'dataset'
  MATCH (x)-[s:DECLARES]->(stated:HwColumn) WHERE s.sensitivity IN $given.sensitive
  CALL (stated) {
    RETURN stated AS source
    UNION
    UNWIND $given.names[stated.dataset] AS name
    MATCH (:HwDataset {key: name})-[:HAS_COLUMN]->(source:HwColumn) WHERE source.name = stated.name
    RETURN source
  }
  CALL (source) {
    RETURN source AS taken
    UNION
    // Whoever takes the struct or payload that it is part of takes it, and who takes a field of it takes a part of it.
    MATCH (:HwDataset {key: source.dataset})-[:HAS_COLUMN]->(taken:HwColumn)
    WHERE source.name STARTS WITH taken.name + '.' OR (taken.name STARTS WITH source.name + '.'
      AND NOT EXISTS { (taken)<-[o:DECLARES]-(:HwDeclaration {current: true}) WHERE o.sensitivity IS NOT NULL })
    RETURN taken
  }
  MATCH (taken)-[e:DERIVES]->(made:HwColumn)
  WHERE e.type = 'DIRECT' AND coalesce(e.masking, false) = false AND NOT id(e) IN $given.reviewed
  WITH made.name AS column, coalesce($given.names[made.dataset], [made.dataset]) AS names,
    min([coalesce($given.names[source.dataset][0], source.dataset), source.name, s.sensitivity]) AS sensitive
  CALL (column, names) {
    UNWIND names AS name
    MATCH (d:HwDataset {key: name})-[h:HAS_COLUMN]->(c:HwColumn) WHERE c.name = column
    WITH c.key AS key, coalesce(h.current, false) AS there, coalesce(d.classification, '') <> ''
      OR EXISTS { (c)<-[o:DECLARES]-(:HwDeclaration {current: true})
        WHERE o.sensitivity IS NOT NULL OR coalesce(o.classification, '') <> '' } AS stated_so
    RETURN min(key) AS id, max(there) AS current, max(stated_so) AS classified
  }
  WITH id, column, names, sensitive, current, classified
  WHERE current AND NOT classified
    AND NOT EXISTS { UNWIND names AS name MATCH (:HwDataset {key: name})<-[:DECLARES]-(o:HwDeclaration {current: true})
      WHERE o.sensitivity IS NOT NULL OR coalesce(o.classification, '') <> '' }
  MATCH (d:HwDataset {key: names[0]}) WHERE coalesce(d.dropped, false) = false
  WITH d, id, column, sensitive, d.key AS subject
  WITH * WHERE NOT subject IN $given.exempt AND id > $given.after
  WITH * ORDER BY id LIMIT $given.limit
  MATCH (of:HwDataset {key: sensitive[0]})
  WITH {id: id, kind: 'DATASET', subject: d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type, .owners}, column: column, sensitivity: sensitive[2], source: sensitive[1],
    dataset: of {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type}} AS row
  ORDER BY row.id
  RETURN collect(row) AS found
}
RETURN total, exempted, met, found
