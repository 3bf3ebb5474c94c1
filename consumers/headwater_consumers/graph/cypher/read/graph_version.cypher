// The version that this graph has, or is migrated from
MATCH (v:HeadwaterGraph {id: 1}) RETURN coalesce(v.migrating_from, v.version) AS version
