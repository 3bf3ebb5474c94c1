// Consumers of datasets, by the keys of these
UNWIND $given.keys AS key
MATCH (c:HwConsumer)-[:CONSUMES]->(d:HwDataset {key: key})
RETURN c.key AS key, c.name AS name,
  collect({dataset: d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type}, column: null}) AS reads
