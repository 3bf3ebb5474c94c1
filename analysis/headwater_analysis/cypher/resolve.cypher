// column: A column by key, with its dataset
MATCH (n:HwColumn {key: $given.key})<-[:HAS_COLUMN]-(d:HwDataset) WHERE n.tenant = $given.tenant
RETURN id(n) AS id, n {.key, .name, .data_type} AS properties, d {.namespace, .name, .title, .symlinks, .symlink_types} AS dataset

// column_by_id: A column by id, with its dataset
MATCH (n:HwColumn)<-[:HAS_COLUMN]-(d:HwDataset) WHERE id(n) = $given.node
RETURN id(n) AS id, n {.key, .name, .data_type} AS properties, d {.namespace, .name, .title, .symlinks, .symlink_types} AS dataset

// columns: A dataset's columns, by name
MATCH (:HwDataset {key: $given.dataset})-[:HAS_COLUMN]->(n:HwColumn)
RETURN n.name AS name, n.key AS key ORDER BY n.position, n.name

// dataset_keys: Datasets by key
MATCH (n:HwDataset) WHERE n.key IN $given.keys AND n.tenant = $given.tenant
RETURN id(n) AS id, n {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type} AS properties ORDER BY n.key

// dataset_prefix: Datasets by a prefix of their keys
MATCH (n:HwDataset) WHERE n.key STARTS WITH $given.prefix AND n.tenant = $given.tenant
RETURN id(n) AS id, n {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type} AS properties ORDER BY n.key LIMIT $given.limit

// job_keys: Jobs by key
MATCH (n:HwJob) WHERE n.key IN $given.keys AND n.tenant = $given.tenant
RETURN id(n) AS id, n {.key, .namespace, .name, .processing_type} AS properties ORDER BY n.key

// job_prefix: Jobs by a prefix of their keys
MATCH (n:HwJob) WHERE n.key STARTS WITH $given.prefix AND n.tenant = $given.tenant
RETURN id(n) AS id, n {.key, .namespace, .name, .processing_type} AS properties ORDER BY n.key LIMIT $given.limit

// last_part: Datasets whose dotted name ends with this part
CALL db.index.fulltext.queryNodes('headwater_dataset_words', $given.query, {limit: $given.looked_at}) YIELD node AS n
WHERE n.tenant = $given.tenant AND n.name ENDS WITH $given.ending AND NOT n.name CONTAINS '/'
RETURN id(n) AS id, n {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type} AS properties ORDER BY n.key LIMIT $given.limit

// last_part_of_alias: Datasets with another dotted name that ends with this part
CALL db.index.fulltext.queryNodes('headwater_alias_words', $given.query, {limit: $given.looked_at}) YIELD node AS a
WHERE a.tenant = $given.tenant AND a.name ENDS WITH $given.ending AND NOT a.name CONTAINS '/'
MATCH (a)<-[:KNOWN_AS]-(n:HwDataset)
RETURN DISTINCT id(n) AS id, n {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type} AS properties ORDER BY properties.key LIMIT $given.limit
