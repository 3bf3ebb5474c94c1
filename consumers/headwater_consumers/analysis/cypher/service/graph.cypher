// The version of the model that made this graph; and whether there are several names, declarations, consumers, as Neo4j has counted
OPTIONAL MATCH (v:HeadwaterGraph {id: 1})
CALL () { MATCH (a:HwAlias) RETURN count(a) AS aliases }
CALL () { MATCH ()-[r:RENAMED_TO]->() RETURN count(r) AS renames }
CALL () { MATCH ()-[r:CONSUMES]->() RETURN count(r) AS consumes }
CALL () { MATCH (x:HwDeclaration) RETURN count(x) AS declarations }
RETURN v.version AS version, aliases + renames > 0 AS several_names,
  consumes > 0 AS consumers, declarations > 0 AS declarations
