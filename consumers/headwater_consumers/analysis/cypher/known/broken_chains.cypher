// Neighbouring intervals that don't fit together, query by query: by the index of what is broken
MATCH (a:Interval)-[n:NEXT]->(b:Interval)
USING INDEX SEEK n:NEXT(_broken)
WHERE n._broken >= $given.after AND b.tenant = $given.tenant AND (n._broken > $given.after OR b.batch_id > $given.batch)
WITH n, a, b ORDER BY n._broken, b.batch_id LIMIT $given.limit
MATCH (q:Query {key: n._broken})
OPTIONAL MATCH (q)-[:OF]->(j:Job)
WITH n, a, b, q, min(j.key) AS job
OPTIONAL MATCH (j:Job {key: job})
RETURN q {.key, .query_id, .query_name} AS query, j {.namespace, .name} AS job,
  a.batch_id AS after_batch, b.batch_id AS before_batch, b.processing_time AS at,
  n {.missing, .gap_datasets, .gap_partitions, .gap_from, .gap_to_exclusive, .overlap_datasets, .overlap_partitions,
    .overlap_from, .overlap_to_exclusive} AS fault
ORDER BY q.key, b.batch_id
