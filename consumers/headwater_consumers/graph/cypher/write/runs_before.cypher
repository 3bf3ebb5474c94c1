// Runs that reported no end, of which a run that begins in a span may be the first of their query since they were last seen
UNWIND $batch.rows AS row
CALL (row) {
  WITH row, head(COLLECT {
    MATCH (e:HwRun)
    USING INDEX e:HwRun(_query, first_seen)
    WHERE e._query = row.query AND e.first_seen < row.first
    RETURN e.first_seen ORDER BY e._query DESC, e.first_seen DESC LIMIT 1
  }) AS since
  MATCH (r:HwRun)
  USING INDEX r:HwRun(_query, last_seen)
  WHERE r._query = row.query AND r.last_seen >= coalesce(since, datetime('0001-01-01T00:00:00Z')) AND r.last_seen < row.until
    AND NOT coalesce(r.state, '') IN ['COMPLETE', 'FAIL', 'ABORT']
  RETURN r.key AS key
}
RETURN collect(DISTINCT key) AS found
