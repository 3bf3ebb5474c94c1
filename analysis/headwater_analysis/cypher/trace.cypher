// prefetch: Look-ups for the next hops: names of datasets, their readers and writers, steps of plans that keep state, and segments with wanted offsets
CALL () {
  UNWIND $given.datasets AS key
  MATCH (d:HwDataset {key: key})
  WITH d {.key, .namespace, .name, .title, .symlinks, .symlink_namespaces, .symlink_types, .type, .dropped, .dropped_at} AS properties,
    EXISTS { (d)<-[:READS]-() } AS read, EXISTS { (d)<-[:WRITES]-() } AS written
  RETURN collect([properties, read, written]) AS datasets
}
CALL () {
  UNWIND $given.plans AS plan
  MATCH (p:HwPlan {key: plan.key})
  WITH plan, p.complete AS complete,
    COLLECT {
      MATCH (d:HwDataset)<-[e:INFLUENCES]-() WHERE d.key IN plan.datasets AND e.plan = plan.key AND e.kind IN $given.kinds
      RETURN DISTINCT e.kind
    } + COLLECT {
      MATCH (d:HwDataset)-[:HAS_COLUMN]->(:HwColumn)<-[e:DERIVES]-()
      WHERE d.key IN plan.datasets AND e.plan = plan.key AND e.kind IN $given.kinds
      RETURN DISTINCT e.kind
    } AS kinds
  RETURN collect([plan.n, complete, kinds]) AS plans
}
CALL () {
  UNWIND $given.users AS dataset
  MATCH (d:HwDataset {key: dataset})
  WITH dataset,
    EXISTS { (d)<-[u:READS|WRITES]-(:HwJob)<-[:OF]-(r:HwRun) WHERE type(u) = $given.type AND r.query_id IS NULL } AS of_runs,
    COLLECT {
      MATCH (d)<-[u:READS|WRITES]-(q:HwQuery) WHERE type(u) = $given.type
      WITH q ORDER BY q.key
      RETURN q {.key, .query_id, .name, .first_batch, .last_batch, summarized: q._retired IS NOT NULL,
        contested: EXISTS {
          MATCH (s:HwSegment) USING INDEX SEEK s:HwSegment(_contested, start) WHERE s._contested = q.key AND s.start >= 0
        },
        rewinds: COLLECT {
          MATCH (s:HwSegment) USING INDEX SEEK s:HwSegment(_rewinds) WHERE s._rewinds = q.key RETURN s.rewinds
        },
        job: head([(q)-[:OF]->(j:HwJob) | j {.key, .namespace, .name, .processing_type}])}
    } AS queries
  RETURN collect([dataset, of_runs, queries]) AS users
}
CALL () {
  UNWIND $given.wants AS want
  MATCH (d:HwDataset {key: want.dataset})<-[u:READS|WRITES]-(q:HwQuery)
  WHERE type(u) = $given.type AND q.last_batch - q.first_batch < $given.most_batches
  CALL (q) {
    MATCH (s:HwSegment)
    USING INDEX s:HwSegment(query, start)
    WHERE s.query = q.key AND s.start > q.first_batch - $given.size AND s.start <= q.last_batch
    RETURN s
  }
  CALL (d, s) {
    MATCH (s)-[r:CONSUMED|PRODUCED]->(d)
    WHERE type(r) = $given.used AND r.partitions IS NOT NULL
    RETURN r
  }
  WITH want, s, r, head([n IN range(0, size(r.partitions) - 1) WHERE r.partitions[n] = want.partition]) AS place
  WHERE any(offset IN want.offsets WHERE r.from[place] <= offset AND offset < r.to_exclusive[place])
  WITH want, s, r, place LIMIT $given.most_segments
  WITH want, r, place, s {.tenant, .query, .query_id, .start, .first_batch, .last_batch, ._open, ._head, ._tail, ._last,
    ._block_0, ._block_1, ._block_2, ._block_3, ._block_4, ._block_5, ._block_6, ._block_7} AS properties
  RETURN collect([properties, want.dataset, want.partition, r.from[place], r.to_exclusive[place],
    [n IN range(0, $given.blocks - 1) | r['from_' + n][place]]]) AS segments
}
RETURN datasets, plans, users, segments

// contested: Batches of some queries with conflicting reports of their positions
UNWIND $given.queries AS query
CALL (query) {
  MATCH (s:HwSegment)
  USING INDEX s:HwSegment(_contested, start)
  WHERE s._contested = query AND s.start >= 0
  RETURN s ORDER BY s._contested, s.start LIMIT $given.limit
}
RETURN query, s.contested AS batches

// event_time: Event-time facet of each start of a query; null for a start without this facet
MATCH (:HwQuery {key: $given.query})<-[:IN_QUERY]-(r:HwRun)
RETURN DISTINCT head([i IN range(0, size(coalesce(r.facet_names, [])) - 1)
  WHERE r.facet_names[i] = $given.facet | r.facets[i]]) AS reported

// partitions: Partitions of a topic that runs and micro-batches read or wrote, and whether some write lacks its offsets
OPTIONAL MATCH (d:HwDataset)<-[r:CONSUMED|PRODUCED]-(n)
WHERE d.key IN $given.keys AND type(r) IN $given.types
WITH collect(DISTINCT [i IN range(0, size(coalesce(r.partitions, [])) - 1) WHERE r.from[i] < r.to_exclusive[i] | r.partitions[i]]) AS lists,
  count(CASE WHEN type(r) = 'PRODUCED' AND (r.partitions IS NULL OR size(coalesce(n.reconciled, [])) > 0) THEN 1 END) > 0 AS unrecorded
RETURN COLLECT { UNWIND lists AS numbers UNWIND numbers AS number RETURN DISTINCT number ORDER BY number } AS partitions, unrecorded

// path_runs: Runs that read or wrote files or partitions, by marks
CALL db.index.fulltext.queryRelationships('headwater_position_paths', $given.marks) YIELD relationship AS r
MATCH (x:HwRun)-[r]->(d:HwDataset)
WHERE d.tenant = $given.tenant AND type(r) = $given.type
WITH DISTINCT x ORDER BY x.key LIMIT $given.limit
RETURN 0 AS n, 'Run' AS label, x {.*} AS properties,
  head([(x)-[:OF]->(j:HwJob) | j {.key, .namespace, .name, .processing_type}]) AS job,
  [(x)-[u:CONSUMED|PRODUCED]->(d:HwDataset) | [type(u), d.key, u {.*}]] AS uses

// path_segments: Segments with micro-batches that read or wrote files or partitions, by marks
CALL db.index.fulltext.queryRelationships('headwater_position_paths', $given.marks) YIELD relationship AS r
MATCH (x:HwSegment)-[r]->(d:HwDataset)
WHERE d.tenant = $given.tenant AND type(r) = $given.type
WITH DISTINCT x ORDER BY x.query, x.start LIMIT $given.limit
RETURN x.query AS query, x.first_batch AS first, x.last_batch AS last

// probe_segment_times: Probes: the first segment at or after a batch, with its latest processing time
UNWIND $given.probes AS probe
CALL (probe) {
  MATCH (s:HwSegment)
  WHERE s.query = probe.query AND s.start >= probe.start
  RETURN s ORDER BY s.query, s.start LIMIT 1
}
RETURN probe.n AS n, probe.start AS at, s.start AS start, s.first_batch AS first, s.last_batch AS last,
  s.last_time.epochMillis * 1000 + s.last_time.microsecond % 1000 AS last_time

// probe_segments: Probes: the first segment at or after a batch, with the ranges that it read or wrote of a dataset
UNWIND $given.probes AS probe
CALL (probe) {
  MATCH (s:HwSegment)
  WHERE s.query = probe.query AND s.start >= probe.start
  RETURN s ORDER BY s.query, s.start LIMIT 1
}
RETURN probe.n AS n, probe.start AS at, s.start AS start, s.first_batch AS first, s.last_batch AS last,
  s.contested IS NOT NULL AS contested,
  [(s)-[r:CONSUMED|PRODUCED]->(d:HwDataset) WHERE d.key = probe.dataset AND type(r) = probe.type AND r.partitions IS NOT NULL |
    r {.partitions, .from, .to_exclusive}] AS uses

// queries_by_key: Streaming queries by key, with their job
UNWIND $given.keys AS key
MATCH (q:HwQuery {key: key})
RETURN q {.key, .query_id, .name, .first_batch, .last_batch, summarized: q._retired IS NOT NULL,
  contested: EXISTS {
    MATCH (s:HwSegment) USING INDEX SEEK s:HwSegment(_contested, start) WHERE s._contested = q.key AND s.start >= 0
  },
  rewinds: COLLECT {
    MATCH (s:HwSegment) USING INDEX SEEK s:HwSegment(_rewinds) WHERE s._rewinds = q.key RETURN s.rewinds
  },
  job: head([(q)-[:OF]->(j:HwJob) | j {.key, .namespace, .name, .processing_type}])} AS query

// ranges: Offsets that the segments of a query read or wrote between two batches, and whether all positions are of Kafka
MATCH (s:HwSegment)-[r:CONSUMED|PRODUCED]->(d:HwDataset)
USING INDEX s:HwSegment(query, start)
WHERE s.query = $given.query AND s.start > $given.first - $given.size AND s.start <= $given.last AND type(r) = $given.type
WITH d, r, type(r) = 'CONSUMED' OR NOT any(id IN coalesce(s.reconciled, []) WHERE $given.first <= id <= $given.last) AS recorded
RETURN collect([d.key, r.positions = ['kafka'] AND recorded, r.partitions, r.from, r.to_exclusive]) AS ranges

// reading_runs: Keys of batch runs of the jobs that read a dataset, without those that ended before a time
UNWIND $given.wants AS want
MATCH (:HwDataset {key: want.dataset})<-[:READS]-(j:HwJob)
CALL (j, want) {
  MATCH (j)<-[:OF]-(r:HwRun)
  WHERE r.query_id IS NULL AND (want.since IS NULL OR r.ended_at IS NULL OR r.ended_at >= want.since)
  RETURN r ORDER BY r.started_at, r.key LIMIT $given.limit
}
WITH want.n AS n, r.key AS run ORDER BY n, j.key, r.started_at, run
RETURN n, collect(run) AS runs

// runs: Runs by key, with their inputs and outputs
UNWIND $given.keys AS key
MATCH (r:HwRun {key: key})
RETURN 0 AS n, 'Run' AS label, r {.*} AS properties,
  head([(r)-[:OF]->(j:HwJob) | j {.key, .namespace, .name, .processing_type}]) AS job,
  [(r)-[u:CONSUMED|PRODUCED]->(d:HwDataset) | [type(u), d.key, u {.*}]] AS uses

// summaries: Summaries of queries whose micro-batches used some of these offsets, with all their uses
UNWIND $given.wants AS want
MATCH (s:HwSummary)
WHERE s.query = want.query AND s.first_batch >= 0
MATCH (s)-[of:CONSUMED|PRODUCED]->(:HwDataset {key: want.dataset})
WHERE type(of) = want.type AND any(n IN range(0, size(coalesce(of.from, [])) - 1)
  WHERE any(span IN want.spans WHERE span[0] = of.partitions[n] AND span[1] < of.to_exclusive[n] AND of.from[n] < span[2]))
WITH want, s ORDER BY want.n, s.first_batch, s.key LIMIT $given.limit
RETURN want.n AS n,
  s {.key, .tenant, .query_id, .run_id, .day, .batches, .first_batch, .last_batch, .first_time, .last_time} AS summary,
  head([(s)-[:IN_RUN]->(r:HwRun) | r {.code_version, .config_version}]) AS run,
  [(s)-[u:CONSUMED|PRODUCED]->(d:HwDataset) | [type(u), d.key, u {.*}]] AS uses

// summaries_among: Summaries of a query with micro-batches in a range of batch ids, with all their uses
MATCH (s:HwSummary)
WHERE s.query = $given.query AND s.first_batch <= $given.last AND s.last_batch >= $given.first
WITH s ORDER BY s.first_batch, s.key LIMIT $given.limit
RETURN s {.key, .batch_starts, .batch_ends, .first_time, .last_time} AS summary,
  [(s)-[u:CONSUMED|PRODUCED]->(d:HwDataset) | [type(u), d.key, u {.*}]] AS uses

// used_by_query: Datasets that a query reads and writes
MATCH (q:HwQuery {key: $given.query})-[r:READS|WRITES]->(d:HwDataset)
RETURN DISTINCT type(r) AS type, d.key AS dataset

// version_batches: Micro-batches that read or wrote versions
UNWIND $given.versions AS version
MATCH (:HwVersion {key: version})<-[r:READ|WROTE]-(s:HwSegment)
RETURN s.query AS query, r.batches AS batches ORDER BY query, s.start LIMIT $given.limit

// version_known: Check whether the graph has a version
MATCH (v:HwVersion {key: $given.key})
RETURN v.key AS key

// version_runs: Runs that read or wrote versions
UNWIND $given.versions AS version
MATCH (:HwVersion {key: version})<-[:READ|WROTE]-(x:HwRun)
WITH DISTINCT x ORDER BY x.key LIMIT $given.limit
RETURN 0 AS n, 'Run' AS label, x {.*} AS properties,
  head([(x)-[:OF]->(j:HwJob) | j {.key, .namespace, .name, .processing_type}]) AS job,
  [(x)-[u:CONSUMED|PRODUCED]->(d:HwDataset) | [type(u), d.key, u {.*}]] AS uses

// versions_begun: Versions of a dataset that begin with a text
MATCH (:HwDataset {key: $given.dataset})<-[:OF]-(v:HwVersion) WHERE $given.text <> '' AND v.version STARTS WITH $given.text
WITH v.version AS version ORDER BY version LIMIT 5
RETURN collect(version) AS versions

// writing_runs: Keys of batch runs of the jobs that write a dataset, the latest first, without those that began after a time
UNWIND $given.wants AS want
MATCH (:HwDataset {key: want.dataset})<-[:WRITES]-(j:HwJob)
CALL (j, want) {
  MATCH (j)<-[:OF]-(r:HwRun)
  WHERE r.query_id IS NULL AND (want.until IS NULL OR r.started_at IS NULL OR r.started_at <= want.until)
  RETURN r ORDER BY r.started_at DESC, r.key LIMIT $given.limit
}
WITH want.n AS n, r.key AS run ORDER BY n, j.key, r.started_at DESC, run
RETURN n, collect(run) AS runs
