// Summaries of queries whose micro-batches used some of these offsets, with all that they used
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
