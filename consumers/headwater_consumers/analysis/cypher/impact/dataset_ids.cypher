// Datasets that a part of the data came to
MATCH (d:HwDataset) WHERE d.key IN $given.keys AND d.tenant = $given.tenant
RETURN collect(id(d)) AS ids
