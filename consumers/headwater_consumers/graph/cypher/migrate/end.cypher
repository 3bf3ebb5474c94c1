// The graph is of the new version
MATCH (v:HeadwaterGraph {id: 1})
REMOVE v.migrating_from
