// Plans that queries were seen to use
UNWIND $rows AS row
MATCH (a:Query {key: row.start})
MATCH (b:Plan {key: row.end})
MERGE (a)-[r:USED]->(b)
SET
    r.first_seen = CASE WHEN r.first_seen <= row.first OR row.first IS NULL THEN r.first_seen ELSE row.first END,
    r.last_seen = CASE WHEN r.last_seen >= row.last OR row.last IS NULL THEN r.last_seen ELSE row.last END
