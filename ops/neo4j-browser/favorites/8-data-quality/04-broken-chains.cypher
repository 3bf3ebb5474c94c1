// Chains with gaps: batches that are missing, offsets that were skipped or read twice
// No rows is good news.
MATCH (a:Interval)-[next:NEXT]->(b:Interval)
WHERE next.missing > 0 OR next.gap_partitions IS NOT NULL OR next.overlap_partitions IS NOT NULL
MATCH (b)-[:IN_QUERY]->(query:Query)
RETURN query.name AS query, a.batch_id AS after, b.batch_id AS before, coalesce(next.missing, 0) AS batches_missing,
       [n IN range(0, size(coalesce(next.gap_partitions, [])) - 1) |
        toString(next.gap_partitions[n]) + ': ' + toString(next.gap_from[n]) + ' to '
        + toString(next.gap_to_exclusive[n] - 1)] AS skipped,
       [n IN range(0, size(coalesce(next.overlap_partitions, [])) - 1) |
        toString(next.overlap_partitions[n]) + ': ' + toString(next.overlap_from[n]) + ' to '
        + toString(next.overlap_to_exclusive[n] - 1)] AS read_twice
ORDER BY query, after
LIMIT 300
