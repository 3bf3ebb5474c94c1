// Aliases that datasets have no longer
UNWIND $batch.rows AS row
MATCH (a:Dataset {key: row.start})-[r:KNOWN_AS]->(b:Alias {key: row.end})
DELETE r
