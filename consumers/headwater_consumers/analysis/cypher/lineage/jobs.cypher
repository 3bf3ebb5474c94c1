// Jobs of a page
UNWIND $given.keys AS key
MATCH (j:HwJob {key: key})
RETURN collect(j {.key, .namespace, .name, .processing_type}) AS jobs
