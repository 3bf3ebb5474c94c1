// counts: Number of micro-batches of these queries, in segments that lie completely in a span of time
UNWIND $given.queries AS query
MATCH (s:HwSegment)
WHERE s.query = query AND s.start >= 0
  AND ($given.begin IS NULL OR s.first_time >= $given.begin) AND ($given.end IS NULL OR s.last_time < $given.end)
RETURN coalesce(sum(CASE WHEN $given.begin IS NULL AND $given.end IS NULL THEN s.batches ELSE s.timed END), 0) AS total

// cut_segments: Segments that lie partly in a span of time
UNWIND $given.queries AS query
MATCH (s:HwSegment)
WHERE s.query = query AND s.start >= 0
  AND ($given.begin IS NULL OR s.last_time >= $given.begin) AND ($given.end IS NULL OR s.first_time < $given.end)
  AND (s.first_time < $given.begin OR s.last_time >= $given.end)
RETURN s.query AS query, s.first_batch AS first, s.last_batch AS last

// overview: Segments of queries in a span of time, the latest first, with the summary properties of each
UNWIND $given.queries AS query
CALL (query) {
  MATCH (s:HwSegment)
  WHERE s.query = query AND s.start >= 0
    AND ($given.begin IS NULL OR s.last_time >= $given.begin) AND ($given.end IS NULL OR s.first_time < $given.end)
  RETURN s ORDER BY s.query DESC, s.start DESC LIMIT $given.segments
}
RETURN query, s.batches AS batches, s.first_batch AS first_batch, s.last_batch AS last_batch,
  s.first_time.epochMillis * 1000 + s.first_time.microsecond % 1000 AS first_time,
  s.last_time.epochMillis * 1000 + s.last_time.microsecond % 1000 AS last_time,
  size(coalesce(s.broken, [])) AS broken,
  reduce(total = 0, each IN coalesce(s.missing, []) | total + each) AS missing,
  reduce(total = 0, each IN coalesce(s.gaps, []) | total + each) AS gaps,
  reduce(total = 0, each IN coalesce(s.overlaps, []) | total + each) AS overlaps,
  size(coalesce(s.rewinds, [])) AS rewinds, coalesce(s.contested, []) AS contested,
  size(coalesce(s.failed, [])) AS failed, size(coalesce(s.reconciled, [])) AS reconciled

// overview_summaries: Summaries of queries in a span of time, the latest first
UNWIND $given.queries AS query
CALL (query) {
  MATCH (s:HwSummary)
  WHERE s.query = query AND s.first_batch >= 0
    AND ($given.begin IS NULL OR s.last_time >= $given.begin) AND ($given.end IS NULL OR s.first_time < $given.end)
  RETURN s ORDER BY s.query DESC, s.first_batch DESC LIMIT $given.summaries
}
RETURN query, s.batches AS batches, s.first_batch AS first_batch, s.last_batch AS last_batch, s.missing AS missing,
  s.first_time.epochMillis * 1000 + s.first_time.microsecond % 1000 AS first_time,
  s.last_time.epochMillis * 1000 + s.last_time.microsecond % 1000 AS last_time

// queries_of_dataset: Streaming queries that read or write a dataset
UNWIND $given.ids AS id
MATCH (d) WHERE id(d) = id
MATCH (q:HwQuery)-[:READS|WRITES]->(d)
RETURN DISTINCT q {.key, .query_id, .query_name, .checkpoint_location, .first_batch, .last_batch} AS query
ORDER BY query.key

// queries_of_job: Streaming queries of a job, for its timeline
MATCH (q:HwQuery)-[:OF]->(j:HwJob) WHERE id(j) = $given.id
RETURN q {.key, .query_id, .query_name, .checkpoint_location, .first_batch, .last_batch} AS query
ORDER BY q.key

// runs_of_dataset: The latest runs that read or wrote a dataset, in a span of time
UNWIND $given.ids AS id
MATCH (d) WHERE id(d) = id
MATCH (r:HwRun)-[:OF]->(:HwJob)-[:READS|WRITES]->(d)
WITH DISTINCT r, coalesce(r.started_at, r.first_seen) AS began
WHERE ($given.begin IS NULL OR coalesce(r.ended_at, r.inferred_ended_at, began) >= $given.begin) AND ($given.end IS NULL OR began < $given.end)
  AND (EXISTS { (r)-[:CONSUMED|PRODUCED]->(d) WHERE id(d) IN $given.ids }
    OR EXISTS { (r)-[:IN_QUERY]->(:HwQuery)-[:READS|WRITES]->(d) WHERE id(d) IN $given.ids })
RETURN r {.key, .run_id, state: coalesce(r.inferred_state, r.state), .processing_type, .started_at, ended_at: coalesce(r.ended_at, r.inferred_ended_at), .inferred_because, .inferred_by, .code_version, .error_message} AS run
ORDER BY began IS NULL, began DESC, r.key LIMIT $given.limit

// runs_of_job: The latest runs of a job, in a span of time
MATCH (r:HwRun)-[:OF]->(j:HwJob) WHERE id(j) = $given.id
WITH r, coalesce(r.started_at, r.first_seen) AS began
WHERE ($given.begin IS NULL OR coalesce(r.ended_at, r.inferred_ended_at, began) >= $given.begin) AND ($given.end IS NULL OR began < $given.end)
RETURN r {.key, .run_id, state: coalesce(r.inferred_state, r.state), .processing_type, .started_at, ended_at: coalesce(r.ended_at, r.inferred_ended_at), .inferred_because, .inferred_by, .code_version, .error_message} AS run
ORDER BY began IS NULL, began DESC, r.key LIMIT $given.limit
