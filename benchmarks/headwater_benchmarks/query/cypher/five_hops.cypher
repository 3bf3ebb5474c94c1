// Where a record went over five hops: each micro-batch that read what one before it wrote
MATCH (:Dataset {key: $topic})<-[c:CONSUMED]-(i1:Interval)
WHERE any(n IN range(0, size(c.partitions) - 1)
  WHERE c.partitions[n] = $partition AND c.from[n] <= $offset AND $offset < c.to_exclusive[n])
WITH collect(DISTINCT i1) AS s1
UNWIND s1 AS b1
OPTIONAL MATCH (b1)-[p:PRODUCED]->(:Dataset)<-[c:CONSUMED]-(i2:Interval)
WHERE any(n IN range(0, size(p.partitions) - 1)
  WHERE c.from[n] < p.to_exclusive[n] AND p.from[n] < c.to_exclusive[n])
WITH s1, collect(DISTINCT i2) AS s2
UNWIND s2 AS b2
OPTIONAL MATCH (b2)-[p:PRODUCED]->(:Dataset)<-[c:CONSUMED]-(i3:Interval)
WHERE any(n IN range(0, size(p.partitions) - 1)
  WHERE c.from[n] < p.to_exclusive[n] AND p.from[n] < c.to_exclusive[n])
WITH s1, s2, collect(DISTINCT i3) AS s3
UNWIND s3 AS b3
OPTIONAL MATCH (b3)-[p:PRODUCED]->(:Dataset)<-[c:CONSUMED]-(i4:Interval)
WHERE any(n IN range(0, size(p.partitions) - 1)
  WHERE c.from[n] < p.to_exclusive[n] AND p.from[n] < c.to_exclusive[n])
WITH s1, s2, s3, collect(DISTINCT i4) AS s4
UNWIND s4 AS b4
OPTIONAL MATCH (b4)-[p:PRODUCED]->(:Dataset)<-[c:CONSUMED]-(i5:Interval)
WHERE any(n IN range(0, size(p.partitions) - 1)
  WHERE c.from[n] < p.to_exclusive[n] AND p.from[n] < c.to_exclusive[n])
WITH s1, s2, s3, s4, collect(DISTINCT i5) AS s5
UNWIND s1 + s2 + s3 + s4 + s5 AS i
MATCH (i)-[p:PRODUCED]->(d:Dataset)
RETURN i.query_id AS query, i.batch_id AS batch, d.name AS wrote, p.partitions AS partitions, p.from AS from,
  p.to_exclusive AS to_exclusive, p.snapshot_id AS snapshot
