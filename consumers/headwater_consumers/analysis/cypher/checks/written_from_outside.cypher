// Versions whose parent, which came after the first one that a run wrote, no run is known to have written
CALL () {
  MATCH (d:HwDataset)
  USING INDEX SEEK d:HwDataset(key)
  WHERE d.key > '' AND d.tenant = $given.tenant AND coalesce($given.names[d.key][0], d.key) = d.key
  WITH d, coalesce($given.names[d.key], [d.key]) AS names
  CALL (names) {
    UNWIND names AS name
    MATCH (:HwDataset {key: name})<-[:OF]-(v:HwVersion) WHERE EXISTS { (v)<-[:WROTE]-() }
    WITH collect(v.version) AS claimed, collect(v.parent_id) AS parents
    UNWIND parents AS parent
    WITH CASE WHEN NOT parent IN claimed THEN parent END AS parent
    RETURN collect(parent) AS unclaimed
  }
  WITH d, names, unclaimed
  WHERE size(unclaimed) > 0 AND NOT EXISTS { UNWIND names AS name MATCH (:HwDataset {key: name})<-[:PRODUCED]-(:HwSummary) }
  CALL (names, unclaimed) {
    UNWIND names AS name
    MATCH (:HwDataset {key: name})<-[:OF]-(v:HwVersion)<-[w:WROTE]-(by)
    WITH v, min(coalesce(w.first_time, by.ended_at, by.last_seen)) AS at
    WITH min(at) AS first, collect({v: v, at: at}) AS written
    UNWIND written AS one
    WITH one.v AS v, one.at AS at WHERE one.at > first AND one.v.parent_id IN unclaimed
    RETURN v.parent_id AS parent, head(collect({version: v.version, format: v.format, key: v.key, at: at})) AS child
  }
  WITH d, parent, child, child.key AS id, d.key AS subject
  WITH subject, CASE WHEN subject IN $given.exempt THEN subject END AS exempt
  RETURN count(*) AS total, count(exempt) AS exempted, collect(DISTINCT exempt) AS met
}
CALL (total, exempted) {
  WITH total, exempted WHERE total > exempted
  MATCH (d:HwDataset)
  USING INDEX SEEK d:HwDataset(key)
  WHERE d.key > '' AND d.tenant = $given.tenant AND coalesce($given.names[d.key][0], d.key) = d.key
  WITH d, coalesce($given.names[d.key], [d.key]) AS names
  CALL (names) {
    UNWIND names AS name
    MATCH (:HwDataset {key: name})<-[:OF]-(v:HwVersion) WHERE EXISTS { (v)<-[:WROTE]-() }
    WITH collect(v.version) AS claimed, collect(v.parent_id) AS parents
    UNWIND parents AS parent
    WITH CASE WHEN NOT parent IN claimed THEN parent END AS parent
    RETURN collect(parent) AS unclaimed
  }
  WITH d, names, unclaimed
  WHERE size(unclaimed) > 0 AND NOT EXISTS { UNWIND names AS name MATCH (:HwDataset {key: name})<-[:PRODUCED]-(:HwSummary) }
  CALL (names, unclaimed) {
    UNWIND names AS name
    MATCH (:HwDataset {key: name})<-[:OF]-(v:HwVersion)<-[w:WROTE]-(by)
    WITH v, min(coalesce(w.first_time, by.ended_at, by.last_seen)) AS at
    WITH min(at) AS first, collect({v: v, at: at}) AS written
    UNWIND written AS one
    WITH one.v AS v, one.at AS at WHERE one.at > first AND one.v.parent_id IN unclaimed
    RETURN v.parent_id AS parent, head(collect({version: v.version, format: v.format, key: v.key, at: at})) AS child
  }
  WITH d, parent, child, child.key AS id, d.key AS subject
  WITH * WHERE NOT subject IN $given.exempt AND id > $given.after
  WITH * ORDER BY id LIMIT $given.limit
  WITH {id: id, kind: 'DATASET', subject: d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type, .owners}, since: child.at, format: child.format, version: child.version,
    parent: parent} AS row
  ORDER BY row.id
  RETURN collect(row) AS found
}
RETURN total, exempted, met, found
