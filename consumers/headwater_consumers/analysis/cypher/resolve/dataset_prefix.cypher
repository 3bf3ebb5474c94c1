// Datasets whose keys begin so
MATCH (n:HwDataset) WHERE n.key STARTS WITH $given.prefix AND n.tenant = $given.tenant
RETURN id(n) AS id, n {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type} AS properties ORDER BY n.key LIMIT $given.limit
