// Aliases that datasets have no longer
UNWIND $batch.rows AS row
MATCH (a:HwDataset {key: row.start})-[r:KNOWN_AS]->(b:HwAlias {key: row.end})
DELETE r
