// Blast radius: micro-batches that read what a run wrote
// Further, and with what was overwritten since: headwater blast --run RUN
WITH 'flights.flights.departed' AS wanted
MATCH (bad:HwRun)-[:OF]->(:HwJob {name: wanted})
WITH bad ORDER BY bad.ended_at DESC LIMIT 1
MATCH (bad)-[wrote:PRODUCED]->(out:HwDataset)<-[:READS]-(query:HwQuery)<-[:IN_QUERY]-(segment:HwSegment)-[read:CONSUMED]->(out)
WHERE CASE WHEN wrote.partitions IS NULL THEN segment.last_time >= bad.started_at
           ELSE any(n IN range(0, coalesce(size(wrote.partitions), 0) - 1)
                    WHERE any(m IN range(0, coalesce(size(read.partitions), 0) - 1)
                    WHERE wrote.partitions[n] = read.partitions[m] AND wrote.from[n] < read.to_exclusive[m]
                          AND read.from[m] < wrote.to_exclusive[n])) END
UNWIND ['0', '1', '2', '3', '4', '5', '6', '7', 'tail'] AS part
WITH *, segment['batch_ids_' + part] AS ids, read['from_' + part] AS first, read['ends_' + part] AS ends,
     read['starts_' + part] AS starts
WITH *, size(first) AS width
UNWIND range(0, coalesce(size(ids), 0) - 1) AS at
WITH *, [m IN range(0, coalesce(width, 0) - 1) |
         {partition: read.partitions[m], to: first[m] + ends[at * width + m],
          from: first[m] + CASE WHEN starts IS NOT NULL THEN starts[at * width + m] WHEN at = 0 THEN 0
                                ELSE ends[(at - 1) * width + m] END}] AS ranges
WHERE CASE WHEN wrote.partitions IS NULL THEN segment['processing_times_' + part][at] >= bad.started_at.epochMillis
           ELSE any(n IN range(0, coalesce(size(wrote.partitions), 0) - 1) WHERE any(one IN ranges
                    WHERE one.partition = wrote.partitions[n] AND one.from < one.to AND wrote.from[n] < one.to
                      AND one.from < wrote.to_exclusive[n])) END
OPTIONAL MATCH (segment)-[:PRODUCED]->(further:HwDataset)
RETURN bad.run_id AS bad_run, out.title AS through, query.name AS read_by,
       CASE WHEN wrote.partitions IS NULL THEN 'at most' ELSE 'exactly' END AS certainty,
       min(ids[at]) AS first_batch, max(ids[at]) AS last_batch, count(DISTINCT ids[at]) AS batches,
       collect(DISTINCT further.title) AS tainted
ORDER BY through, read_by
