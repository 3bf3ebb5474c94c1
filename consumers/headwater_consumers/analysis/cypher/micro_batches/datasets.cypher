// Datasets that micro-batches used, for their names
UNWIND $given.keys AS key
MATCH (d:HwDataset {key: key})
RETURN d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type} AS properties
