// Jobs that write a dataset
MATCH (:Dataset {key: $dataset})<-[:WRITES]-(j:Job)
RETURN j {.key, .namespace, .name, .processing_type} AS job ORDER BY j.key LIMIT $limit
