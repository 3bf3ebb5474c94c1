// Columns that are declared to be sensitive themselves, or by their dataset
MATCH (x:HwDeclaration)
USING INDEX SEEK x:HwDeclaration(key)
WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.subject_type = 'dataset'
CALL (x) {
  MATCH (x)-[s:DECLARES]->(c:HwColumn) WHERE s.sensitivity IN $given.sensitive
  RETURN c, s.sensitivity AS sensitivity
  UNION
  WITH x WHERE x.sensitivity IN $given.sensitive
  MATCH (x)-[:DECLARES]->(:HwDataset)-[:HAS_COLUMN]->(c:HwColumn)
  WHERE NOT EXISTS { MATCH (c)<-[o:DECLARES]-(:HwDeclaration {current: true}) WHERE o.sensitivity IS NOT NULL }
  RETURN c, x.sensitivity AS sensitivity
}
RETURN collect(id(c)) AS nodes, collect(sensitivity) AS sensitivities
