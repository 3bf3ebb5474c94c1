// Segments with micro-batches that read or wrote files or partitions, by marks
CALL db.index.fulltext.queryRelationships('headwater_position_paths', $given.marks) YIELD relationship AS r
WITH r, startNode(r) AS x, endNode(r) AS d
WHERE d.tenant = $given.tenant AND type(r) = $given.type AND x:HwSegment
WITH DISTINCT x LIMIT $given.limit
RETURN x.query AS query, x.first_batch AS first, x.last_batch AS last
