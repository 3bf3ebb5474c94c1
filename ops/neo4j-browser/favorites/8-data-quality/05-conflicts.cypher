// Conflicts: one batch reported with two different ends
// No rows is good news.
// Both reports: headwater runs intervals JOB --job --from BATCH
MATCH (segment:HwSegment)-[:IN_QUERY]->(query:HwQuery)
WHERE segment._contested IS NOT NULL AND segment.start >= 0
UNWIND segment.contested AS batch
WITH segment, query, batch, count(*) + 1 AS reports
RETURN query.name AS query, batch, reports,
       [(segment)-[:IN_RUN]->(run:HwRun) WHERE run.first_batch <= batch <= run.last_batch | run.run_id] AS runs
ORDER BY query, batch
LIMIT 300
