// Names of datasets and columns, by key
CALL () {
  UNWIND $given.keys AS key
  MATCH (d:HwDataset {key: key})
  RETURN [key, d.namespace, d.name, null] AS row
  UNION ALL
  UNWIND $given.keys AS key
  MATCH (c:HwColumn {key: key})
  MATCH (d:HwDataset {key: c.dataset})
  RETURN [key, d.namespace, d.name, c.name] AS row
}
RETURN collect(row) AS names
