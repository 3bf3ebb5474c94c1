// graph_version: Version of the graph's model; set to this release's version if there is none
MERGE (v:HeadwaterGraph {id: 1})
  ON CREATE SET v.version = $version
RETURN v.version AS version

// await_indexes: Wait until every index is online
CALL db.awaitIndexes($seconds)
