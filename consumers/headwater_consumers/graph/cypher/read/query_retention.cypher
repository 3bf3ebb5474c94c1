// A query with its jobs, the micro-batches that it doesn't keep one by one, and their summaries
MATCH (q:Query {key: $query})
RETURN q.tenant AS tenant, q.query_id AS query_id, q._retired AS retired,
  [(q)-[:OF]->(j:Job) | [j.namespace, j.name]] AS jobs,
  [(s:Summary)-[:IN_QUERY]->(q) | [
    properties(s),
    head([(s)-[:IN_RUN]->(x:Run) | x.key]),
    [(s)-[r:CONSUMED|PRODUCED]->(d:Dataset) | [type(r), d.key, properties(r)]]]] AS summaries
