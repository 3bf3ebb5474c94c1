// Datasets that a part of the data came to
MATCH (d:Dataset) WHERE d.key IN $keys AND d.tenant = $tenant
RETURN collect(id(d)) AS ids
