// Declaration sets that were revised, or of which what was missing came
UNWIND $batch.rows AS row
MATCH (n:HwDeclarationSet {key: row.key})
SET n += row.properties
