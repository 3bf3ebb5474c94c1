// Jobs of an impact, with their owners
UNWIND $given.keys AS key
MATCH (j:Job {key: key})
RETURN collect({properties: j {.key, .namespace, .name, .processing_type}, criticality: j.criticality,
  owners: coalesce(j.owners, []), owner_types: coalesce(j.owner_types, [])}) AS jobs
