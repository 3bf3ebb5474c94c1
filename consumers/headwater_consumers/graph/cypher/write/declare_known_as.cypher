// Aliases that datasets have now
UNWIND $batch.rows AS row
MATCH (a:Dataset {key: row.start})
MATCH (b:Alias {key: row.end})
MERGE (a)-[r:KNOWN_AS]->(b)
SET r.type = row.type
