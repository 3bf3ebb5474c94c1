// Columns that are declared of a dataset, and that its schema, under none of its names, has
CALL () {
  MATCH (x:Declaration)
  USING INDEX SEEK x:Declaration(key)
  WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.subject_type = 'dataset' AND x.columns IS NOT NULL
  MATCH (x)-[:DECLARES]->(named:Dataset)
  UNWIND x.columns AS column
  WITH coalesce($given.names[named.key], [named.key]) AS names, column, collect(DISTINCT x.set) AS sets
  WITH names, collect({name: column, sets: sets}) AS stated
  CALL (names) {
    UNWIND names AS name
    MATCH (:Dataset {key: name})-[h:HAS_COLUMN]->(c:Column)
    RETURN collect(CASE WHEN h.current THEN toLower(c.name) END) AS there, min(CASE WHEN h.current THEN h.first_seen END) AS first
  }
  WITH names, stated, there, first WHERE size(there) > 0
  UNWIND stated AS each
  WITH names, there, first, each.name AS column, each.sets AS sets,
    left(toLower(each.name), size(each.name) - size(last(split(each.name, '.')))) AS above
  WHERE NOT toLower(column) IN there AND any(path IN there WHERE path STARTS WITH above)
  MATCH (d:Dataset {key: names[0]}) WHERE coalesce(d.dropped, false) = false
  WITH d, names, column, sets, first, d.key AS subject, d.key + ' ' + column AS id
  WITH subject, CASE WHEN subject IN $given.exempt THEN subject END AS exempt
  RETURN count(*) AS total, count(exempt) AS exempted, collect(DISTINCT exempt) AS met
}
CALL (total, exempted) {
  WITH total, exempted WHERE total > exempted
  MATCH (x:Declaration)
  USING INDEX SEEK x:Declaration(key)
  WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.subject_type = 'dataset' AND x.columns IS NOT NULL
  MATCH (x)-[:DECLARES]->(named:Dataset)
  UNWIND x.columns AS column
  WITH coalesce($given.names[named.key], [named.key]) AS names, column, collect(DISTINCT x.set) AS sets
  WITH names, collect({name: column, sets: sets}) AS stated
  CALL (names) {
    UNWIND names AS name
    MATCH (:Dataset {key: name})-[h:HAS_COLUMN]->(c:Column)
    RETURN collect(CASE WHEN h.current THEN toLower(c.name) END) AS there, min(CASE WHEN h.current THEN h.first_seen END) AS first
  }
  WITH names, stated, there, first WHERE size(there) > 0
  UNWIND stated AS each
  WITH names, there, first, each.name AS column, each.sets AS sets,
    left(toLower(each.name), size(each.name) - size(last(split(each.name, '.')))) AS above
  WHERE NOT toLower(column) IN there AND any(path IN there WHERE path STARTS WITH above)
  MATCH (d:Dataset {key: names[0]}) WHERE coalesce(d.dropped, false) = false
  WITH d, names, column, sets, first, d.key AS subject, d.key + ' ' + column AS id
  WITH * WHERE NOT subject IN $given.exempt AND id > $given.after
  WITH * ORDER BY id LIMIT $given.limit
  CALL (names, column) {
    UNWIND names AS name
    MATCH (:Dataset {key: name})-[h:HAS_COLUMN]->(c:Column) WHERE toLower(c.name) = toLower(column)
    RETURN max(h.last_seen) AS gone
  }
  WITH {id: id, kind: 'DATASET', subject: d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type, .owners}, since: coalesce(gone, first), gone: gone IS NOT NULL, column: column,
    sets: sets[..3]} AS row
  ORDER BY row.id
  RETURN collect(row) AS found
}
RETURN total, exempted, met, found
