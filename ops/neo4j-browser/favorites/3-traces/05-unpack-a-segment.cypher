// A segment's micro-batches one by one, with the offsets that each read and wrote
// The rest of what is known of each: headwater runs intervals JOB --job --from BATCH --json
WITH 'flights.enrich' AS wanted, 3 AS batch_id
MATCH (query:HwQuery)-[:OF]->(:HwJob {name: wanted})
MATCH (segment:HwSegment) WHERE segment.query = query.key AND segment.start = batch_id / 512 * 512
UNWIND ['0', '1', '2', '3', '4', '5', '6', '7', 'tail'] AS part
UNWIND range(0, coalesce(size(segment['batch_ids_' + part]), 0) - 1) AS at
CALL (segment, part, at) {
  MATCH (segment)-[use:CONSUMED|PRODUCED]->(dataset:HwDataset)
  WITH type(use) AS type, dataset.title AS dataset, use.partitions AS partitions, size(use['from_' + part]) AS width,
       use['from_' + part] AS first, use['ends_' + part] AS ends, use['starts_' + part] AS starts
  UNWIND range(0, coalesce(width, 0) - 1) AS n
  WITH *, first[n] + ends[at * width + n] AS to,
       first[n] + CASE WHEN starts IS NOT NULL THEN starts[at * width + n] WHEN at = 0 THEN 0
                       ELSE ends[(at - 1) * width + n] END AS from
  WHERE from < to
  WITH type, dataset + ' ' + toString(partitions[n]) + ':' + toString(from) + '..' + toString(to) AS range
  ORDER BY range
  WITH collect([type, range]) AS ranges
  RETURN [one IN ranges WHERE one[0] = 'CONSUMED' | one[1]] AS read, [one IN ranges WHERE one[0] = 'PRODUCED' | one[1]] AS wrote
}
RETURN segment['batch_ids_' + part][at] AS batch,
       head([time IN [segment['processing_times_' + part][at]] WHERE time <> -1 | datetime({epochMillis: time})]) AS at,
       nullIf(segment['durations_ms_' + part][at], -1) AS ms, nullIf(segment['rows_in_' + part][at], -1) AS rows_in,
       read, wrote
ORDER BY batch
