// The schemas with a column of a dataset by any of its names, and what they state of it
MATCH (d:HwDataset)<-[:OF]-(s:HwSchemaVersion)
USING INDEX SEEK d:HwDataset(key)
WHERE d.key IN $given.keys AND $given.column IN s.columns
WITH s, [at IN range(0, size(s.columns) - 1) WHERE s.columns[at] = $given.column][0] AS at
RETURN s.data_types[at] AS type, s.nullable[at] AS nullable, min(s.first_seen) AS first_seen, max(s.last_seen) AS last_seen
ORDER BY last_seen DESC, first_seen DESC, type, nullable
LIMIT $given.most
