// Types that are declared of columns, each with the types that these columns have, under any name of their datasets
MATCH (x:HwDeclaration)
USING INDEX SEEK x:HwDeclaration(key)
WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.subject_type = 'dataset' AND x.columns IS NOT NULL
MATCH (x)-[r:DECLARES]->(stated:HwColumn) WHERE r.type IS NOT NULL
MATCH (x)-[:DECLARES]->(named:HwDataset)
WITH coalesce($given.names[named.key], [named.key]) AS names, named, stated, r.type AS declared
CALL (names, named, stated) {
  MATCH (named)-[:HAS_COLUMN {current: true}]->(stated)
  RETURN stated AS column
  UNION
  WITH names, named, stated WHERE size(names) > 1 OR NOT EXISTS { (named)-[:HAS_COLUMN {current: true}]->(stated) }
  UNWIND names AS name
  MATCH (:HwDataset {key: name})-[:HAS_COLUMN {current: true}]->(column:HwColumn) WHERE toLower(column.name) = toLower(stated.name)
  RETURN column
}
WITH declared, collect(DISTINCT column.data_type) AS observed
RETURN declared, observed
