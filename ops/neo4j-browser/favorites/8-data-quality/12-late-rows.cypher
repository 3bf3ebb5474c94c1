// Rows that came too late for their watermark and were dropped
MATCH (batch:Interval)-[:IN_QUERY]->(query:Query)
WHERE batch.rows_dropped_late > 0
RETURN query.name AS query, sum(batch.rows_dropped_late) AS dropped, sum(batch.rows_in) AS of_rows,
       count(*) AS in_batches, max(batch.watermark_after) AS watermark
ORDER BY dropped DESC, query
LIMIT 300
