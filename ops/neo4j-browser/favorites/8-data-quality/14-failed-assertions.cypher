// Micro-batches whose quality checks failed
// No rows is good news.
MATCH (batch:Interval)-[:IN_QUERY]->(query:Query)
UNWIND range(0, size(coalesce(batch.quality_assertions, [])) - 1) AS n
WITH query, batch, n WHERE NOT batch.quality_passed[n]
RETURN query.name AS query, batch.batch_id AS batch, batch.quality_assertions[n] AS assertion,
       batch.quality_columns[n] AS column, batch.quality_values[n] AS value, batch.run_id AS run
ORDER BY batch DESC, query
LIMIT 300
