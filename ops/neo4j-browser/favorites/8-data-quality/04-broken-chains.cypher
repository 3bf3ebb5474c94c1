// Chains with gaps: batches that are missing, offsets that were skipped or read twice
// No rows is good news.
// Which offsets: headwater runs intervals JOB --job --from BATCH
MATCH (segment:HwSegment)-[:IN_QUERY]->(query:HwQuery)
WHERE segment._broken IS NOT NULL
UNWIND range(0, size(segment.broken) - 1) AS n
RETURN query.name AS query, segment.broken[n] AS batch, segment.missing[n] AS batches_missing_before,
       segment.gaps[n] AS partitions_with_skipped_offsets, segment.overlaps[n] AS partitions_read_twice
ORDER BY query, batch
LIMIT 300
