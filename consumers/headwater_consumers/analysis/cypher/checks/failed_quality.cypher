// Datasets that others read, of whose last micro-batch or run with assertions about them one failed
CALL () {
  CALL () {
    MATCH (q:HwQuery)
    USING INDEX SEEK q:HwQuery(key)
    WHERE q.key > '' AND q.tenant = $given.tenant AND q.last_batch IS NOT NULL
    MATCH (s:HwSegment)
    USING INDEX SEEK s:HwSegment(query, start)
    WHERE s.query = q.key AND s.start = q.last_batch / $given.segment * $given.segment
      AND last(s.failed) > coalesce(s.last_passed, -1)
    MATCH (s)-[:PRODUCED]->(d:HwDataset)
    WITH DISTINCT q, s, coalesce($given.names[d.key], [d.key]) AS names
    WITH names, names[0] + ' ' + q.key AS id, {batch: last(s.failed), query_id: q.query_id, query_name: q.query_name} AS by,
      COUNT { UNWIND names AS name MATCH (:HwDataset {key: name})<-[:READS]-(o:HwJob) WHERE NOT (o)<-[:OF]-(q) RETURN DISTINCT o }
      + COUNT { UNWIND names AS name MATCH (:HwDataset {key: name})<-[:CONSUMES]-(o) RETURN DISTINCT o } AS readers
    WHERE readers > 0
    RETURN names[0] AS subject, id, by, readers
    UNION ALL
    MATCH (j:HwJob)
    USING INDEX SEEK j:HwJob(key)
    WHERE j.key > '' AND j.tenant = $given.tenant
    CALL (j) {
      MATCH (r:HwRun)
      USING INDEX SEEK r:HwRun(_checked, last_seen)
      WHERE r._checked = j.key AND r.last_seen <= $given.until
      WITH r ORDER BY r._checked DESC, r.last_seen DESC LIMIT $given.looked_at
      MATCH (r)-[use:CONSUMED|PRODUCED]->(d:HwDataset)
      WHERE use.uncommitted IS NULL
      WITH r, d, collect(type(use)) AS uses
      WITH r, d, [n IN range(0, size(r.quality_passed) - 1)
        WHERE (coalesce(r.quality_datasets[n], '') = '' AND 'PRODUCED' IN uses)
          OR (r.quality_datasets[n] = d.name AND r.quality_namespaces[n] = d.namespace) | r.quality_passed[n]] AS passed
      WHERE size(passed) > 0
      WITH r, d, passed ORDER BY r.last_seen DESC, r.key DESC
      WITH d, head(collect({run_id: r.run_id, since: coalesce(r.ended_at, r.last_seen), passed: passed})) AS latest
      WHERE any(held IN latest.passed WHERE NOT held)
      RETURN d, latest
    }
    WITH j, latest, coalesce($given.names[d.key], [d.key]) AS names
    WITH names, names[0] + ' ' + j.key AS id, {run_id: latest.run_id, since: latest.since, job: j {.key, .namespace, .name}} AS by,
      COUNT { UNWIND names AS name MATCH (:HwDataset {key: name})<-[:READS]-(o:HwJob) WHERE o <> j RETURN DISTINCT o }
      + COUNT { UNWIND names AS name MATCH (:HwDataset {key: name})<-[:CONSUMES]-(o) RETURN DISTINCT o } AS readers
    WHERE readers > 0
    RETURN names[0] AS subject, id, by, readers
  }
  RETURN collect({id: id, subject: subject, by: by, readers: readers}) AS failed
}
RETURN size(failed) AS total, size([each IN failed WHERE each.subject IN $given.exempt]) AS exempted,
  COLLECT {
    UNWIND failed AS each
    WITH each.subject AS subject WHERE subject IN $given.exempt
    RETURN DISTINCT subject
  } AS met,
  COLLECT {
    UNWIND failed AS each
    WITH each WHERE NOT each.subject IN $given.exempt AND each.id > $given.after
    WITH each ORDER BY each.id LIMIT $given.limit
    MATCH (d:HwDataset {key: each.subject})
    RETURN {id: each.id, kind: 'DATASET', subject: d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type, .owners}, since: each.by.since, by: each.by, readers: each.readers} AS row
    ORDER BY row.id
  } AS found
