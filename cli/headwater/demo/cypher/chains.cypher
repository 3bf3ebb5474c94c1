// Intervals of each streaming query, and how many times the chain is broken
MATCH (query:Query)
OPTIONAL MATCH (interval:Interval)-[:IN_QUERY]->(query)
OPTIONAL MATCH (interval)-[next:NEXT]->(:Interval)
WITH query,
     count(DISTINCT interval) AS intervals,
     min(interval.batch_id) AS first,
     sum(CASE WHEN coalesce(next.missing, 0) > 0 OR size(coalesce(next.gap_partitions, [])) > 0 THEN 1 ELSE 0 END) AS gaps,
     sum(CASE WHEN size(coalesce(next.overlap_partitions, [])) > 0 THEN 1 ELSE 0 END) AS overlaps
RETURN query.query_name AS query,
       intervals,
       gaps + CASE WHEN first > 0 THEN 1 ELSE 0 END AS gaps,
       overlaps
ORDER BY query
