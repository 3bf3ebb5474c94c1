// Columns and datasets by key, to be shown
CALL () {
  MATCH (c:HwColumn)<-[:HAS_COLUMN]-(d:HwDataset) WHERE c.key IN $given.columns
  RETURN c.key AS key, d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type} AS dataset, c {.key, .name, .data_type} AS column
 UNION ALL
  MATCH (d:HwDataset) WHERE d.key IN $given.datasets
  RETURN d.key AS key, d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type} AS dataset, null AS column
}
RETURN key, dataset, column
