// NEXT between neighbours
UNWIND $rows AS row
MATCH (a:Interval {key: row.start})
MATCH (b:Interval {key: row.end})
CREATE (a)-[r:NEXT]->(b)
SET r = row.properties
