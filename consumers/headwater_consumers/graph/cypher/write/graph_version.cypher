// The version of the graph's model that made this graph, ours if nobody did yet
MERGE (v:HeadwaterGraph {id: 1})
  ON CREATE SET v.version = $version
RETURN v.version AS version
