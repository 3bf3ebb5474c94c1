// What follows of the ends of runs
UNWIND $batch.rows AS row
MATCH (n:HwRun {key: row.key})
SET n += row.properties
