// Columns of datasets by their paths in lower case, those of the latest schema first; whether case tells columns apart
UNWIND $given.wanted AS wanted
MATCH (d:HwDataset {key: wanted[0]})
RETURN d.key AS dataset,
  COLLECT {
    MATCH (d)-[r:HAS_COLUMN]->(c:HwColumn)
    WHERE toLower(c.name) IN wanted[1]
    RETURN [id(c), c.name] ORDER BY r.last_seen IS NOT NULL, c.name
  } AS columns,
  EXISTS {
    MATCH (d)<-[:OF]-(s:HwSchemaVersion)
    WHERE size(COLLECT { UNWIND s.columns AS path RETURN DISTINCT toLower(path) }) < size(s.columns)
  } AS by_case
