// Declarations that weren't there, in their sets
CALL () { UNWIND $batch.sets AS key OPTIONAL MATCH (x:HwDeclarationSet {key: key}) RETURN collect([x]) AS sets }
UNWIND $batch.rows AS row
CREATE (n:HwDeclaration)
SET n = row.properties
FOREACH (s IN sets[row.set] | CREATE (n)-[:IN_SET]->(s))
