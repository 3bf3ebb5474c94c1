// Datasets that were seen to feed others
UNWIND $rows AS row
MATCH (a:Dataset {key: row.start})
MATCH (b:Dataset {key: row.end})
MERGE (a)-[r:FEEDS {key: row.key}]->(b)
  ON CREATE SET r = row.properties
SET r.observed = true,
    r.first_seen = CASE WHEN r.first_seen <= row.first OR row.first IS NULL THEN r.first_seen ELSE row.first END,
    r.last_seen = CASE WHEN r.last_seen >= row.last OR row.last IS NULL THEN r.last_seen ELSE row.last END
