// Datasets by key
MATCH (n:HwDataset) WHERE n.key IN $given.keys AND n.tenant = $given.tenant
RETURN id(n) AS id, n {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type} AS properties ORDER BY n.key
