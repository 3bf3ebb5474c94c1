// Owners that events report of datasets, by key
UNWIND $given.keys AS key
MATCH (d:HwDataset {key: key})
RETURN d.key AS key, d.owners AS owners, d.owner_types AS owner_types
