// The next segments by key, with their closed blocks; others that migrate wait here
MATCH (v:HeadwaterGraph {id: 1})
SET v.version = v.version
WITH v
MATCH (s:Segment)
WHERE s.key > $last
RETURN s.key AS key, s.batches AS batches, s._block_0 AS _block_0, s._block_1 AS _block_1, s._block_2 AS _block_2,
  s._block_3 AS _block_3, s._block_4 AS _block_4, s._block_5 AS _block_5, s._block_6 AS _block_6, s._block_7 AS _block_7
ORDER BY s.key LIMIT $limit
