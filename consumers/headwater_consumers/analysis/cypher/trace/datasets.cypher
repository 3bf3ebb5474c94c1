// Datasets by key, for their names, and whether anything reads and writes them
UNWIND $given.keys AS key
MATCH (d:Dataset {key: key})
RETURN d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type, .dropped, .dropped_at} AS properties,
  EXISTS { (d)<-[:READS]-() } AS read, EXISTS { (d)<-[:WRITES]-() } AS written
