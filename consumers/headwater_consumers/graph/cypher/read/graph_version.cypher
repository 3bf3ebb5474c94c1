// The version that this graph has
MATCH (v:HeadwaterGraph {id: 1}) RETURN v.version AS version
