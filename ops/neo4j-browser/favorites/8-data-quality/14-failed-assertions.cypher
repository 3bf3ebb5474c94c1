// Micro-batches whose quality checks failed
// No rows is good news.
// Which checks: headwater runs intervals JOB --job --from BATCH
MATCH (segment:HwSegment)-[:IN_QUERY]->(query:HwQuery)
WHERE segment.failed IS NOT NULL
UNWIND segment.failed AS batch
RETURN query.name AS query, batch,
       [(segment)-[:IN_RUN]->(run:HwRun) WHERE run.first_batch <= batch <= run.last_batch | run.run_id] AS runs
ORDER BY batch DESC, query
LIMIT 300
