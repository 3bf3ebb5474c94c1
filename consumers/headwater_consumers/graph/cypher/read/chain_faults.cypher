// Neighbouring intervals whose offsets leave a gap or overlap, by query
MATCH (a:Interval)-[n:NEXT]->(:Interval)
WHERE n.gap_partitions IS NOT NULL OR n.overlap_partitions IS NOT NULL
RETURN a.query AS key,
  sum(size(coalesce(n.gap_partitions, []))) AS gaps,
  sum(size(coalesce(n.overlap_partitions, []))) AS overlaps
