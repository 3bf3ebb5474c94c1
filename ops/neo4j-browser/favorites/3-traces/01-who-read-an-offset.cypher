// Which micro-batch read an offset of a topic
WITH 'flights.departed' AS topic, 0 AS partition, 700 AS offset
MATCH (dataset:HwDataset {name: topic})<-[:READS]-(query:HwQuery)<-[:IN_QUERY]-(segment:HwSegment)-[read:CONSUMED]->(dataset)
WITH *, head([n IN range(0, coalesce(size(read.partitions), 0) - 1)
              WHERE read.partitions[n] = partition AND read.from[n] <= offset < read.to_exclusive[n]]) AS n
WHERE n IS NOT NULL
UNWIND ['0', '1', '2', '3', '4', '5', '6', '7', 'tail'] AS part
WITH *, segment['batch_ids_' + part] AS ids, read['from_' + part] AS first, read['ends_' + part] AS ends,
     read['starts_' + part] AS starts
WHERE n < size(first)
UNWIND range(0, size(ids) - 1) AS at
WITH *, size(first) AS width
WITH *, first[n] + ends[at * width + n] AS to,
     first[n] + CASE WHEN starts IS NOT NULL THEN starts[at * width + n] WHEN at = 0 THEN 0
                     ELSE ends[(at - 1) * width + n] END AS from
WHERE from <= offset < to
OPTIONAL MATCH (segment)-[:IN_RUN]->(run:HwRun) WHERE run.first_batch <= ids[at] <= run.last_batch
RETURN query.name AS query, ids[at] AS batch,
       head([time IN [segment['processing_times_' + part][at]] WHERE time <> -1 | datetime({epochMillis: time})]) AS at,
       from, to AS to_exclusive, run.run_id AS run, run.code_version AS code,
       [(segment)-[:PRODUCED]->(out:HwDataset) | out.title] AS wrote_to
ORDER BY query, batch
