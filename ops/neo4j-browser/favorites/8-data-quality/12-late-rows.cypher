// Rows that came too late for their watermark and were dropped
// No rows is good news.
// The watermarks: headwater runs intervals JOB --job --from BATCH --json
MATCH (segment:HwSegment)-[:IN_QUERY]->(query:HwQuery)
WHERE segment.late IS NOT NULL
UNWIND ['0', '1', '2', '3', '4', '5', '6', '7', 'tail'] AS part
UNWIND range(0, coalesce(size(segment['batch_ids_' + part]), 0) - 1) AS at
UNWIND [n IN range(0, size(segment.late) - 1) WHERE segment.late[n] = segment['batch_ids_' + part][at]] AS n
RETURN query.name AS query, sum(segment.late_rows[n]) AS dropped, sum(nullIf(segment['rows_in_' + part][at], -1)) AS of_rows,
       count(*) AS in_batches, min(segment.late[n]) AS first_batch, max(segment.late[n]) AS last_batch
ORDER BY dropped DESC, query
LIMIT 300
