// Jobs of a page
UNWIND $keys AS key
MATCH (j:Job {key: key})
RETURN j {.key, .namespace, .name, .processing_type} AS properties
