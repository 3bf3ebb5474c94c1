// Consumers: create the new ones and lock the others
UNWIND $batch.rows AS row
MERGE (n:HwConsumer {key: row.key})
  ON CREATE SET n = row
  ON MATCH SET n._l = true
