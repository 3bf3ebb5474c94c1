// What became of an offset: on through the next query
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
WHERE first[n] + CASE WHEN starts IS NOT NULL THEN starts[at * width + n] WHEN at = 0 THEN 0
                      ELSE ends[(at - 1) * width + n] END <= offset < first[n] + ends[at * width + n]
WITH segment, part, at, ids[at] AS batch, nullIf(segment['processing_times_' + part][at], -1) AS time

// What this micro-batch wrote: its offsets in each partition, of a topic
MATCH (segment)-[wrote:PRODUCED]->(out:HwDataset)
WITH batch, time, at, wrote, out, wrote['from_' + part] AS first, wrote['ends_' + part] AS ends, wrote['starts_' + part] AS starts
WITH *, size(first) AS width
WITH batch, time, out, wrote.partitions IS NOT NULL AS exactly,
     [m IN range(0, coalesce(width, 0) - 1) |
      {partition: wrote.partitions[m], to: first[m] + ends[at * width + m],
       from: first[m] + CASE WHEN starts IS NOT NULL THEN starts[at * width + m] WHEN at = 0 THEN 0
                             ELSE ends[(at - 1) * width + m] END}] AS ranges
WITH batch, time, out, exactly, [one IN ranges WHERE one.from < one.to] AS written

// Which micro-batches read that, or, where it is no topic, the first one that began later
OPTIONAL MATCH (out)<-[:READS]-(reader:HwQuery)<-[:IN_QUERY]-(next:HwSegment)-[on:CONSUMED]->(out)
WHERE CASE WHEN exactly THEN any(m IN range(0, coalesce(size(on.partitions), 0) - 1) WHERE any(one IN written
                WHERE one.partition = on.partitions[m] AND one.from < on.to_exclusive[m] AND on.from[m] < one.to))
           ELSE next.last_time.epochMillis >= time END
WITH batch, time, out, exactly, written, reader, next, on ORDER BY next.start
WITH batch, time, out, exactly, written, reader, collect([next, on]) AS segments
UNWIND CASE WHEN exactly THEN segments ELSE segments[..1] END AS one
WITH *, one[0] AS next, one[1] AS on
UNWIND CASE WHEN next IS NULL THEN [null] ELSE ['0', '1', '2', '3', '4', '5', '6', '7', 'tail'] END AS part
WITH *, next['batch_ids_' + part] AS ids, on['from_' + part] AS first, on['ends_' + part] AS ends, on['starts_' + part] AS starts
WITH *, size(first) AS width, [(next)-[:PRODUCED]->(end:HwDataset) | end.title] AS into
WITH batch, out, exactly, reader, into,
     [at IN range(0, coalesce(size(ids), 0) - 1)
      WHERE CASE WHEN exactly THEN any(range IN [m IN range(0, coalesce(width, 0) - 1) |
                      {partition: on.partitions[m], to: first[m] + ends[at * width + m],
                       from: first[m] + CASE WHEN starts IS NOT NULL THEN starts[at * width + m] WHEN at = 0 THEN 0
                                             ELSE ends[(at - 1) * width + m] END}]
                      WHERE range.from < range.to AND any(one IN written WHERE one.partition = range.partition
                                                          AND one.from < range.to AND range.from < one.to))
                 ELSE next['processing_times_' + part][at] >= time END | ids[at]] AS found
UNWIND CASE WHEN found = [] THEN [null] ELSE found END AS reads
WITH batch, out, exactly, reader, into, reads ORDER BY reads
WITH batch, out, exactly, reader, collect(reads) AS batches, collect(into) AS into
RETURN batch, out.title AS wrote_to, reader.name AS read_on_by,
       CASE WHEN exactly THEN 'these' ELSE 'not before' END AS certainty,
       CASE WHEN exactly THEN batches ELSE batches[..1] END AS batches, into[0] AS into
ORDER BY batch, wrote_to, read_on_by
