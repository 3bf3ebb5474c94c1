// Datasets that have these names besides their own, by the keys of datasets of such names
MATCH (a:HwAlias) WHERE a.dataset IN $given.keys AND a.tenant = $given.tenant
MATCH (a)<-[:KNOWN_AS]-(d:HwDataset)
RETURN DISTINCT d.key AS key ORDER BY key LIMIT $given.most
