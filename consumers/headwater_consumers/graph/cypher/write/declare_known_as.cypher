// Aliases that datasets have now
UNWIND $batch.rows AS row
MATCH (a:HwDataset {key: row.start})
MATCH (b:HwAlias {key: row.end})
MERGE (a)-[r:KNOWN_AS]->(b)
SET r.type = row.type
