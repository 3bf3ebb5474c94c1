// Jobs of an impact, with their owners
UNWIND $keys AS key
MATCH (j:Job {key: key})
RETURN j {.key, .namespace, .name, .processing_type} AS properties, j.criticality AS criticality,
  coalesce(j.owners, []) AS owners, coalesce(j.owner_types, []) AS owner_types
