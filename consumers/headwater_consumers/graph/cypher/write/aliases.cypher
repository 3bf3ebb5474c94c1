// Aliases: create the new ones
UNWIND $batch.rows AS row
MERGE (n:HwAlias {key: row.key})
  ON CREATE SET n = row
