// Columns from which a column is made that has an approval or a declared size of its groups, where they are declared sensitive, under any names
MATCH (x:HwDeclaration)
USING INDEX SEEK x:HwDeclaration(key)
WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.subject_type = 'dataset'
MATCH (x)-[r:DECLARES]->(c:HwColumn) WHERE r.smallest_group IS NOT NULL OR r.approval_by IS NOT NULL
WITH DISTINCT c
CALL (c) {
  RETURN c AS made
  UNION
  UNWIND $given.names[c.dataset] AS name
  MATCH (:HwDataset {key: name})-[:HAS_COLUMN]->(made:HwColumn) WHERE made.name = c.name
  RETURN made
}
MATCH (source:HwColumn)-[e:DERIVES]->(made)
WHERE e.type = 'DIRECT'
WITH DISTINCT source
CALL (source) {
  RETURN source AS stated
  UNION
  UNWIND $given.names[source.dataset] AS name
  MATCH (:HwDataset {key: name})-[:HAS_COLUMN]->(stated:HwColumn) WHERE stated.name = source.name
  RETURN stated
  UNION
  // A field of what is taken as a whole, and what a field that is taken is part of
  MATCH (:HwDataset {key: source.dataset})-[:HAS_COLUMN]->(stated:HwColumn)
  WHERE stated.name STARTS WITH source.name + '.' OR source.name STARTS WITH stated.name + '.'
  RETURN stated
}
WITH stated
WHERE EXISTS { (stated)<-[s:DECLARES]-(:HwDeclaration {current: true}) WHERE s.sensitivity IN $given.sensitive }
RETURN collect(DISTINCT id(stated)) AS sources
