// What became of an offset: on through the next query
WITH 'flights.departed' AS topic, 0 AS partition, 700 AS offset
MATCH (dataset:Dataset {name: topic})<-[:READS]-(:Query)<-[:IN_QUERY]-(batch:Interval)-[read:CONSUMED]->(dataset)
WHERE any(n IN range(0, size(read.partitions) - 1)
          WHERE read.partitions[n] = partition AND read.from[n] <= offset < read.to_exclusive[n])
MATCH (batch)-[wrote:PRODUCED]->(out:Dataset)
OPTIONAL MATCH (out)<-[:READS]-(next_query:Query)<-[:IN_QUERY]-(next:Interval)-[on:CONSUMED]->(out)
WHERE CASE WHEN wrote.partitions IS NULL THEN next.processing_time >= batch.processing_time
           ELSE any(n IN range(0, size(wrote.partitions) - 1) WHERE any(m IN range(0, size(on.partitions) - 1)
                    WHERE wrote.partitions[n] = on.partitions[m] AND wrote.from[n] < on.to_exclusive[m]
                          AND on.from[m] < wrote.to_exclusive[n])) END
OPTIONAL MATCH (next)-[:PRODUCED]->(end:Dataset)
WITH batch, wrote, out, next_query, next, collect(DISTINCT end.title) AS into
ORDER BY next.batch_id
WITH batch, wrote, out, next_query, collect({batch: next.batch_id, into: into}) AS found
RETURN batch.batch_id AS batch, out.title AS wrote_to, next_query.name AS read_on_by,
       CASE WHEN wrote.partitions IS NULL THEN 'not before' ELSE 'these' END AS certainty,
       CASE WHEN wrote.partitions IS NULL THEN [found[0].batch] ELSE [one IN found | one.batch] END AS batches,
       found[0].into AS into
