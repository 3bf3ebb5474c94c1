// The version of the graph's model that made this graph
MATCH (v:HeadwaterGraph {id: 1}) RETURN v.version AS version
