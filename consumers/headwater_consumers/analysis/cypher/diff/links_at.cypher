// Datasets that a job reads and writes, and since and until when
MATCH (:HwJob {key: $given.job})-[l:READS|WRITES]->(d:HwDataset)
RETURN type(l) AS type, d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type} AS dataset, l.first_seen AS first_seen,
  l.last_seen AS last_seen, coalesce(l.declared, false) AS declared
