// Versions whose parent, which came after the first one that a run wrote, no run is known to have written
CALL () {
  MATCH (d:Dataset)
  USING INDEX SEEK d:Dataset(key)
  WHERE d.key > '' AND d.tenant = $given.tenant AND EXISTS { (d)<-[:OF]-(:Version) } AND NOT EXISTS { (d)<-[:PRODUCED]-(:Summary) }
  CALL (d) {
    MATCH (d)<-[:OF]-(v:Version)<-[w:WROTE]-(by)
    WITH v, min(coalesce(w.first_time, by.ended_at, by.last_seen)) AS at
    WITH collect({version: v.version, parent: v.parent_id, format: v.format, key: v.key, at: at}) AS written, min(at) AS first
    UNWIND written AS one
    UNWIND [{version: one.version, claimed: true, child: null},
      {version: one.parent, claimed: false, child: CASE WHEN one.at > first THEN one END}] AS each
    WITH each WHERE each.version IS NOT NULL
    WITH each.version AS parent, max(each.claimed) AS claimed, head(collect(each.child)) AS child
    WHERE NOT claimed AND child IS NOT NULL
    RETURN parent, child
  }
  WITH d, parent, child, child.key AS id, d.key AS subject
  RETURN count(*) AS total, count(CASE WHEN subject IN $given.exempt THEN 1 END) AS exempted
}
RETURN total, exempted, COLLECT {
  MATCH (d:Dataset)
  USING INDEX SEEK d:Dataset(key)
  WHERE d.key > '' AND d.tenant = $given.tenant AND EXISTS { (d)<-[:OF]-(:Version) } AND NOT EXISTS { (d)<-[:PRODUCED]-(:Summary) }
  CALL (d) {
    MATCH (d)<-[:OF]-(v:Version)<-[w:WROTE]-(by)
    WITH v, min(coalesce(w.first_time, by.ended_at, by.last_seen)) AS at
    WITH collect({version: v.version, parent: v.parent_id, format: v.format, key: v.key, at: at}) AS written, min(at) AS first
    UNWIND written AS one
    UNWIND [{version: one.version, claimed: true, child: null},
      {version: one.parent, claimed: false, child: CASE WHEN one.at > first THEN one END}] AS each
    WITH each WHERE each.version IS NOT NULL
    WITH each.version AS parent, max(each.claimed) AS claimed, head(collect(each.child)) AS child
    WHERE NOT claimed AND child IS NOT NULL
    RETURN parent, child
  }
  WITH d, parent, child, child.key AS id, d.key AS subject
  WITH * WHERE NOT subject IN $given.exempt AND id > $given.after
  WITH * ORDER BY id LIMIT $given.limit
  RETURN {id: id, kind: 'DATASET', subject: d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type, .owners}, since: child.at, format: child.format, version: child.version,
    parent: parent} AS row
  ORDER BY row.id
} AS found
