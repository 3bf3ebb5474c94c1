// Blast radius: micro-batches that read what a run wrote
WITH 'flights.flights.departed' AS wanted
MATCH (bad:Run)-[:OF]->(:Job {name: wanted})
WITH bad ORDER BY bad.ended_at DESC LIMIT 1
MATCH (bad)-[wrote:PRODUCED]->(out:Dataset)<-[:READS]-(query:Query)<-[:IN_QUERY]-(hit:Interval)-[read:CONSUMED]->(out)
WHERE CASE WHEN wrote.partitions IS NULL THEN hit.processing_time >= bad.started_at
           ELSE any(n IN range(0, size(wrote.partitions) - 1) WHERE any(m IN range(0, size(read.partitions) - 1)
                    WHERE wrote.partitions[n] = read.partitions[m] AND wrote.from[n] < read.to_exclusive[m]
                          AND read.from[m] < wrote.to_exclusive[n])) END
OPTIONAL MATCH (hit)-[:PRODUCED]->(further:Dataset)
RETURN bad.run_id AS bad_run, out.title AS through, query.name AS read_by,
       CASE WHEN wrote.partitions IS NULL THEN 'at most' ELSE 'exactly' END AS certainty,
       min(hit.batch_id) AS first_batch, max(hit.batch_id) AS last_batch, count(DISTINCT hit) AS batches,
       collect(DISTINCT further.title) AS tainted
ORDER BY through, read_by
