// Intervals as a timeline shows them
UNWIND $given.intervals AS interval
MATCH (i:Interval) WHERE id(i) = interval
OPTIONAL MATCH (:Interval)-[n:NEXT]->(i)
RETURN i {.*} AS interval,
  n {.missing, .gap_datasets, .gap_partitions, .gap_from, .gap_to_exclusive, .overlap_datasets, .overlap_partitions,
    .overlap_from, .overlap_to_exclusive} AS before,
  COUNT { (:Conflict)-[:CONFLICTS_WITH]->(i) } AS conflicts,
  COLLECT {
    MATCH (i)-[r:CONSUMED|PRODUCED]->(d:Dataset)
    RETURN {
      produced: type(r) = 'PRODUCED',
      dataset: d {.key, .namespace, .name, .title, .type},
      position: r {.position, .certainty, .rows, .partitions, .from, .to_exclusive, .file_count, .file_bytes, .snapshot_id,
        .from_version, .to_version, .from_cdc, .to_cdc, .from_cursor, .to_cursor, .from_time, .to_time_exclusive}
    } ORDER BY d.key, r.ordinal
  } AS uses
