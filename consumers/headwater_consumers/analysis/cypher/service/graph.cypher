// The version of the graph's model that made this graph; and whether any dataset may have several names or consumers, as Neo4j has counted
OPTIONAL MATCH (v:HeadwaterGraph {id: 1})
CALL () { MATCH (a:Alias) RETURN count(a) AS aliases }
CALL () { MATCH ()-[r:RENAMED_TO]->() RETURN count(r) AS renames }
CALL () { MATCH ()-[r:CONSUMES]->() RETURN count(r) AS consumes }
RETURN coalesce(v.migrating_from, v.version) AS version, aliases + renames > 0 AS several_names,
  consumes > 0 AS consumers
