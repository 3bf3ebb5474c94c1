// The version of the graph's model that made this graph
MATCH (v:HeadwaterGraph {id: 1}) RETURN coalesce(v.migrating_from, v.version) AS version
