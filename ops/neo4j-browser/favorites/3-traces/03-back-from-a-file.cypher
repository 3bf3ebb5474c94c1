// Back from a dataset's newest files to the exact offsets they were made of
// Of one file by its path, and with earlier micro-batches where a query keeps state: headwater trace --back --path PATH
WITH 'delays' AS wanted
MATCH (out:HwDataset)<-[:PRODUCED]-(segment:HwSegment) WHERE wanted IN [out.name, out.title]
WITH DISTINCT segment, out ORDER BY segment.last_time DESC LIMIT 2
MATCH (segment)-[wrote:WROTE]->(version:HwVersion)-[:OF]->(out)
UNWIND wrote.batches AS batch
WITH segment, version, batch ORDER BY wrote.first_time DESC, batch DESC LIMIT 5
UNWIND ['0', '1', '2', '3', '4', '5', '6', '7', 'tail'] AS part
UNWIND [at IN range(0, coalesce(size(segment['batch_ids_' + part]), 0) - 1) WHERE segment['batch_ids_' + part][at] = batch] AS at
MATCH (segment)-[read:CONSUMED]->(source:HwDataset), (segment)-[:IN_QUERY]->(query:HwQuery)
OPTIONAL MATCH (segment)-[:IN_RUN]->(run:HwRun) WHERE run.first_batch <= batch <= run.last_batch
WITH *, read['from_' + part] AS first, read['ends_' + part] AS ends, read['starts_' + part] AS starts
WITH *, size(first) AS width
WITH *, [n IN range(0, coalesce(width, 0) - 1) |
         {partition: read.partitions[n], to: first[n] + ends[at * width + n],
          from: first[n] + CASE WHEN starts IS NOT NULL THEN starts[at * width + n] WHEN at = 0 THEN 0
                                ELSE ends[(at - 1) * width + n] END}] AS ranges
RETURN version.version AS manifest, version.file_count AS files, query.name AS query, batch, run.run_id AS run,
       source.title AS made_of,
       [one IN ranges WHERE one.from < one.to |
        toString(one.partition) + ':' + toString(one.from) + '..' + toString(one.to)] AS offsets
ORDER BY batch DESC, made_of
