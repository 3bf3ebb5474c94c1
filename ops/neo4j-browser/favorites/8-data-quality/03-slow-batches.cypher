// Micro-batches that took longest beside their query's median
MATCH (batch:Interval)-[:IN_QUERY]->(query:Query)
WHERE batch.duration_ms IS NOT NULL
WITH query, percentileCont(batch.duration_ms, 0.5) AS median_ms, collect(batch) AS batches
UNWIND batches AS batch
WITH query, batch, median_ms WHERE batch.duration_ms > 2 * median_ms
RETURN query.name AS query, batch.batch_id AS batch_id, batch.duration_ms AS ms, round(median_ms) AS median_ms,
       batch.rows_in AS rows_in, batch.processing_time AS at
ORDER BY ms / median_ms DESC
LIMIT 50
