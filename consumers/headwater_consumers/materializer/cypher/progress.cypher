// How far the consumers are in the events topic; without rows, whether the database answers
UNWIND $rows AS row
MERGE (p:HwProgress {key: row.key})
SET p += row.properties, p.at = datetime()
