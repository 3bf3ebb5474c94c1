// Columns that are declared of a dataset, and that its schema, under none of its names, has, or has with another type
CALL () {
  CALL () {
    MATCH (x:HwDeclaration)
    USING INDEX SEEK x:HwDeclaration(key)
    WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.subject_type = 'dataset' AND x.columns IS NOT NULL
    MATCH (x)-[:DECLARES]->(named:HwDataset)
    MATCH (x)-[:IN_SET]->(s:HwDeclarationSet)
    UNWIND x.columns AS column
    WITH coalesce($given.names[named.key], [named.key]) AS names, column, collect(DISTINCT x.set) AS sets,
      min(s.declared_at) AS declared_at
    WITH names, collect({name: column, sets: sets, declared_at: declared_at}) AS stated
    CALL (names) {
      UNWIND names AS name
      MATCH (:HwDataset {key: name})-[h:HAS_COLUMN]->(c:HwColumn)
      RETURN collect(CASE WHEN h.current THEN toLower(c.name) END) AS there, min(CASE WHEN h.current THEN h.first_seen END) AS first
    }
    WITH names, stated, there, first WHERE size(there) > 0
    UNWIND stated AS each
    WITH names, there, first, each.name AS column, each.sets AS sets, each.declared_at AS declared_at,
      left(toLower(each.name), size(each.name) - size(last(split(each.name, '.')))) AS above
    WHERE NOT toLower(column) IN there AND any(path IN there WHERE path STARTS WITH above)
    RETURN names, column, sets, declared_at, first, null AS type, null AS observed
    UNION ALL
    MATCH (x:HwDeclaration)
    USING INDEX SEEK x:HwDeclaration(key)
    WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.subject_type = 'dataset' AND x.columns IS NOT NULL
      AND size(keys($given.differing)) > 0
    MATCH (x)-[r:DECLARES]->(stated:HwColumn) WHERE $given.differing[r.type] IS NOT NULL
    MATCH (x)-[:DECLARES]->(named:HwDataset)
    MATCH (x)-[:IN_SET]->(s:HwDeclarationSet)
    WITH coalesce($given.names[named.key], [named.key]) AS names, named, stated, r.type AS type, x.set AS id, s.declared_at AS at
    CALL (names, named, stated) {
      MATCH (named)-[:HAS_COLUMN {current: true}]->(stated)
      RETURN stated AS column
      UNION
      WITH names, named, stated WHERE size(names) > 1 OR NOT EXISTS { (named)-[:HAS_COLUMN {current: true}]->(stated) }
      UNWIND names AS name
      MATCH (:HwDataset {key: name})-[:HAS_COLUMN {current: true}]->(column:HwColumn) WHERE toLower(column.name) = toLower(stated.name)
      RETURN column
    }
    WITH names, stated.name AS name, type, id, at, column.data_type AS observed
    WHERE observed IN $given.differing[type]
    RETURN names, name AS column, collect(DISTINCT id) AS sets, min(at) AS declared_at, null AS first, type,
      min(observed) AS observed
  }
  MATCH (d:HwDataset {key: names[0]}) WHERE coalesce(d.dropped, false) = false
  WITH d, names, column, sets, declared_at, first, type, observed, d.key AS subject,
    d.key + ' ' + column + coalesce(' ' + type, '') AS id
  WITH subject, CASE WHEN subject IN $given.exempt THEN subject END AS exempt
  RETURN count(*) AS total, count(exempt) AS exempted, collect(DISTINCT exempt) AS met
}
CALL (total, exempted) {
  WITH total, exempted WHERE total > exempted
  CALL () {
    MATCH (x:HwDeclaration)
    USING INDEX SEEK x:HwDeclaration(key)
    WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.subject_type = 'dataset' AND x.columns IS NOT NULL
    MATCH (x)-[:DECLARES]->(named:HwDataset)
    MATCH (x)-[:IN_SET]->(s:HwDeclarationSet)
    UNWIND x.columns AS column
    WITH coalesce($given.names[named.key], [named.key]) AS names, column, collect(DISTINCT x.set) AS sets,
      min(s.declared_at) AS declared_at
    WITH names, collect({name: column, sets: sets, declared_at: declared_at}) AS stated
    CALL (names) {
      UNWIND names AS name
      MATCH (:HwDataset {key: name})-[h:HAS_COLUMN]->(c:HwColumn)
      RETURN collect(CASE WHEN h.current THEN toLower(c.name) END) AS there, min(CASE WHEN h.current THEN h.first_seen END) AS first
    }
    WITH names, stated, there, first WHERE size(there) > 0
    UNWIND stated AS each
    WITH names, there, first, each.name AS column, each.sets AS sets, each.declared_at AS declared_at,
      left(toLower(each.name), size(each.name) - size(last(split(each.name, '.')))) AS above
    WHERE NOT toLower(column) IN there AND any(path IN there WHERE path STARTS WITH above)
    RETURN names, column, sets, declared_at, first, null AS type, null AS observed
    UNION ALL
    MATCH (x:HwDeclaration)
    USING INDEX SEEK x:HwDeclaration(key)
    WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.subject_type = 'dataset' AND x.columns IS NOT NULL
      AND size(keys($given.differing)) > 0
    MATCH (x)-[r:DECLARES]->(stated:HwColumn) WHERE $given.differing[r.type] IS NOT NULL
    MATCH (x)-[:DECLARES]->(named:HwDataset)
    MATCH (x)-[:IN_SET]->(s:HwDeclarationSet)
    WITH coalesce($given.names[named.key], [named.key]) AS names, named, stated, r.type AS type, x.set AS id, s.declared_at AS at
    CALL (names, named, stated) {
      MATCH (named)-[:HAS_COLUMN {current: true}]->(stated)
      RETURN stated AS column
      UNION
      WITH names, named, stated WHERE size(names) > 1 OR NOT EXISTS { (named)-[:HAS_COLUMN {current: true}]->(stated) }
      UNWIND names AS name
      MATCH (:HwDataset {key: name})-[:HAS_COLUMN {current: true}]->(column:HwColumn) WHERE toLower(column.name) = toLower(stated.name)
      RETURN column
    }
    WITH names, stated.name AS name, type, id, at, column.data_type AS observed
    WHERE observed IN $given.differing[type]
    RETURN names, name AS column, collect(DISTINCT id) AS sets, min(at) AS declared_at, null AS first, type,
      min(observed) AS observed
  }
  MATCH (d:HwDataset {key: names[0]}) WHERE coalesce(d.dropped, false) = false
  WITH d, names, column, sets, declared_at, first, type, observed, d.key AS subject,
    d.key + ' ' + column + coalesce(' ' + type, '') AS id
  WITH * WHERE NOT subject IN $given.exempt AND id > $given.after
  WITH * ORDER BY id LIMIT $given.limit
  CALL (names, column, type) {
    WITH names, column, type WHERE type IS NULL
    UNWIND names AS name
    MATCH (:HwDataset {key: name})-[h:HAS_COLUMN]->(c:HwColumn) WHERE toLower(c.name) = toLower(column)
    RETURN max(h.last_seen) AS gone
  }
  CALL (names, column, observed) {
    WITH names, column, observed WHERE observed IS NOT NULL
    UNWIND names AS name
    MATCH (v:HwSchemaVersion)-[:OF]->(:HwDataset {key: name})
    WHERE any(place IN range(0, size(v.columns) - 1)
      WHERE toLower(v.columns[place]) = toLower(column) AND v.data_types[place] = observed)
    RETURN min(v.first_seen) AS so
  }
  WITH *, coalesce(gone, so, first) AS seen
  WITH {id: id, kind: 'DATASET', subject: d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type, .owners},
    since: CASE WHEN seen > declared_at THEN seen ELSE declared_at END, gone: gone IS NOT NULL, column: column, type: type,
    observed: observed, sets: sets[..3]} AS row
  ORDER BY row.id
  RETURN collect(row) AS found
}
RETURN total, exempted, met, found
