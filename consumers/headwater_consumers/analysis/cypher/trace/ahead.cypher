// What hops lead to: names of datasets and what reads and writes them, steps of plans that keep state, and segments with wanted offsets
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
