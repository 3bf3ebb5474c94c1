// Declarations that hold now, or no longer
UNWIND $batch.rows AS row
MATCH (n:HwDeclaration {key: row.key})
SET n.current = row.current
