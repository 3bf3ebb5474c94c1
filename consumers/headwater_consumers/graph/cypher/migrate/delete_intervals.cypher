// Nodes of micro-batches that are in a segment now
MATCH (i:Interval)
WHERE i.query = $query AND $first <= i.batch_id <= $last
OPTIONAL MATCH (n:Conflict)-[:CONFLICTS_WITH]->(i)
DETACH DELETE n, i
