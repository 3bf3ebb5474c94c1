// Whether any dataset may have several names, by what Neo4j has counted: else there is nothing to look up
CALL () { MATCH (a:Alias) RETURN count(a) AS aliases }
CALL () { MATCH ()-[r:RENAMED_TO]->() RETURN count(r) AS renames }
RETURN aliases + renames > 0 AS found
