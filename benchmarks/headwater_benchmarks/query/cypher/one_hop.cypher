// Which micro-batches read a record, and what they wrote
MATCH (:Dataset {key: $topic})<-[c:CONSUMED]-(i:Interval)
WHERE any(n IN range(0, size(c.partitions) - 1)
  WHERE c.partitions[n] = $partition AND c.from[n] <= $offset AND $offset < c.to_exclusive[n])
MATCH (i)-[p:PRODUCED]->(d:Dataset)
RETURN i.query_id AS query, i.batch_id AS batch, d.name AS wrote, p.partitions AS partitions, p.from AS from,
  p.to_exclusive AS to_exclusive, p.snapshot_id AS snapshot
