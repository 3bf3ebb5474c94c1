// A column by key, with its dataset
MATCH (n:HwColumn {key: $given.key})<-[:HAS_COLUMN]-(d:HwDataset) WHERE n.tenant = $given.tenant
RETURN id(n) AS id, n {.key, .name, .data_type} AS properties, d {.namespace, .name, .title, .symlinks, .symlink_types} AS dataset
