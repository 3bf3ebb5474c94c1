// Datasets that have the names of these, by the keys that these would have
UNWIND $given.keys AS key
MATCH (a:HwAlias {dataset: key}) WHERE a.tenant = $given.tenant
MATCH (a)<-[:KNOWN_AS]-(d:HwDataset)
RETURN key, collect(DISTINCT d.key) AS datasets
