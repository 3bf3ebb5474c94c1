// graph_version: The version of the graph's model that made this graph, ours if nobody did yet
MERGE (v:HeadwaterGraph {id: 1})
  ON CREATE SET v.version = $version
RETURN v.version AS version

// await_indexes: Wait until every index is online
CALL db.awaitIndexes($seconds)
