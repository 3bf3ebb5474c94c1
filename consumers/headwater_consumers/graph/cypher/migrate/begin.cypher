// Neither the old release nor the new one writes from here on
MATCH (v:HeadwaterGraph {id: 1})
SET v.migrating_from = coalesce(v.migrating_from, v.version), v.version = $version
