// Streaming queries whose micro-batches leave gaps or overlap
CALL () {
  CALL () {
    MATCH (s:HwSegment)
    USING INDEX SEEK s:HwSegment(_broken)
    WHERE s._broken > '' AND s.tenant = $given.tenant
    RETURN s._broken AS id, s.first_time AS since, size(s.broken) AS places,
      reduce(n = 0, each IN s.missing | n + each) AS missing, reduce(n = 0, each IN s.gaps | n + each) AS gaps,
      reduce(n = 0, each IN s.overlaps | n + each) AS overlaps
    UNION ALL
    UNWIND $given.beside AS each
    RETURN each.query AS id, each.since AS since, 1 AS places, 0 AS missing, each.gaps AS gaps, each.overlaps AS overlaps
  }
  WITH id, min(since) AS since, sum(places) AS places, sum(missing) AS missing, sum(gaps) AS gaps, sum(overlaps) AS overlaps
  MATCH (q:HwQuery {key: id})
  OPTIONAL MATCH (q)-[:OF]->(of:HwJob)
  WITH q, id, since, places, missing, gaps, overlaps, min(of.key) AS job
  MATCH (j:HwJob {key: job})
  WITH q, j, id, since, places, missing, gaps, overlaps, j.key AS subject
  WITH subject, CASE WHEN subject IN $given.exempt THEN subject END AS exempt
  RETURN count(*) AS total, count(exempt) AS exempted, collect(DISTINCT exempt) AS met
}
CALL (total, exempted) {
  WITH total, exempted WHERE total > exempted
  CALL () {
    MATCH (s:HwSegment)
    USING INDEX SEEK s:HwSegment(_broken)
    WHERE s._broken > '' AND s.tenant = $given.tenant
    RETURN s._broken AS id, s.first_time AS since, size(s.broken) AS places,
      reduce(n = 0, each IN s.missing | n + each) AS missing, reduce(n = 0, each IN s.gaps | n + each) AS gaps,
      reduce(n = 0, each IN s.overlaps | n + each) AS overlaps
    UNION ALL
    UNWIND $given.beside AS each
    RETURN each.query AS id, each.since AS since, 1 AS places, 0 AS missing, each.gaps AS gaps, each.overlaps AS overlaps
  }
  WITH id, min(since) AS since, sum(places) AS places, sum(missing) AS missing, sum(gaps) AS gaps, sum(overlaps) AS overlaps
  MATCH (q:HwQuery {key: id})
  OPTIONAL MATCH (q)-[:OF]->(of:HwJob)
  WITH q, id, since, places, missing, gaps, overlaps, min(of.key) AS job
  MATCH (j:HwJob {key: job})
  WITH q, j, id, since, places, missing, gaps, overlaps, j.key AS subject
  WITH * WHERE NOT subject IN $given.exempt AND id > $given.after
  WITH * ORDER BY id LIMIT $given.limit
  WITH {id: id, kind: 'JOB', subject: j {.key, .namespace, .name, .processing_type, .owners}, since: since, query_id: q.query_id, query_name: q.query_name,
    places: places, missing: missing, gaps: gaps, overlaps: overlaps} AS row
  ORDER BY row.id
  RETURN collect(row) AS found
}
RETURN total, exempted, met, found
