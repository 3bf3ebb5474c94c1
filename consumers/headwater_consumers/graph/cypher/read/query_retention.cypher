// A query with its jobs, the micro-batches that it doesn't keep one by one, and their summaries
MATCH (q:HwQuery {key: $query})
RETURN q.tenant AS tenant, q.query_id AS query_id, q._retired AS retired,
  [(q)-[:OF]->(j:HwJob) | [j.namespace, j.name]] AS jobs,
  [(s:HwSummary)-[:IN_QUERY]->(q) | [
    properties(s),
    head([(s)-[:IN_RUN]->(x:HwRun) | x.key]),
    [(s)-[r:CONSUMED|PRODUCED]->(d:HwDataset) | [type(r), d.key, properties(r)]]]] AS summaries
