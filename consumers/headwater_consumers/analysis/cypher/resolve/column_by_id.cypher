// A column by id, with its dataset
MATCH (n:HwColumn)<-[:HAS_COLUMN]-(d:HwDataset) WHERE id(n) = $given.node
RETURN id(n) AS id, n {.key, .name, .data_type} AS properties, d {.namespace, .name, .title, .symlinks, .symlink_types} AS dataset
