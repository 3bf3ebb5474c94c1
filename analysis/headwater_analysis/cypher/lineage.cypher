// beyond_downstream: Datasets that these datasets feed, and loops, at the end of a search; with keys of all found datasets
CALL () {
  UNWIND $given.nodes AS node
  MATCH (a)-[:GOES_INTO*0..1]->()-[f:FEEDS]->(b)
  WHERE id(a) = node
    AND ($given.jobs IS NULL OR f.job IN $given.jobs)
    AND ($given.as_of IS NULL OR f.first_seen <= $given.as_of)
    AND ($given.since IS NULL OR f.last_seen >= $given.since OR (f.declared AND $given.as_of IS NULL))
  WITH node, f, id(b) AS target
  RETURN collect(DISTINCT target) AS targets, collect(CASE WHEN target = node THEN node END) AS looped,
    collect(CASE WHEN target = node THEN id(f) END) AS loops
}
CALL () {
  UNWIND $given.found AS node
  MATCH (n) WHERE id(n) = node
  RETURN collect(node) AS found, collect(n.key) AS keys
}
RETURN targets, looped, loops, found, keys

// beyond_upstream: Datasets that feed these datasets, and loops, at the end of a search; with keys of all found datasets
CALL () {
  UNWIND $given.nodes AS node
  MATCH (a)<-[f:FEEDS]-()<-[:GOES_INTO*0..1]-(b:HwDataset)
  WHERE id(a) = node
    AND ($given.jobs IS NULL OR f.job IN $given.jobs)
    AND ($given.as_of IS NULL OR f.first_seen <= $given.as_of)
    AND ($given.since IS NULL OR f.last_seen >= $given.since OR (f.declared AND $given.as_of IS NULL))
  WITH node, f, id(b) AS target
  RETURN collect(DISTINCT target) AS targets, collect(CASE WHEN target = node THEN node END) AS looped,
    collect(CASE WHEN target = node THEN id(f) END) AS loops
}
CALL () {
  UNWIND $given.found AS node
  MATCH (n) WHERE id(n) = node
  RETURN collect(node) AS found, collect(n.key) AS keys
}
RETURN targets, looped, loops, found, keys

// column_keys: Keys of columns, and of datasets reached as a whole
UNWIND $given.nodes AS node
MATCH (n) WHERE id(n) = node
RETURN collect(node) AS nodes, collect(n.key) AS keys

// columns: Columns of a page, and datasets as a whole
UNWIND $given.nodes AS node
MATCH (n) WHERE id(n) = node
OPTIONAL MATCH (d:HwDataset)-[r:HAS_COLUMN]->(n)
RETURN node, CASE WHEN d IS NULL THEN n {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type} END AS whole,
  d {.namespace, .name, .title, .symlinks, .symlink_types} AS dataset, n {.key, .name, .data_type} AS properties,
  CASE WHEN d IS NULL THEN coalesce(n.dropped, false) ELSE r.last_seen IS NOT NULL END AS gone

// columns_downstream: Columns and whole datasets derived from these columns: one level of lineage
UNWIND $given.nodes AS node
MATCH (a)-[e:DERIVES|INFLUENCES]->(b)
WHERE id(a) = node AND ($given.jobs IS NULL OR e.job IN $given.jobs)
RETURN collect(node) AS sources, collect(id(b)) AS targets, collect(id(e)) AS edges,
  collect(e.type = 'DIRECT') AS direct, collect(e.plan) AS plans

// columns_shown: Columns, and datasets as a whole, that pass the filters
UNWIND $given.nodes AS node
MATCH (n) WHERE id(n) = node
OPTIONAL MATCH (owner:HwDataset)-[:HAS_COLUMN]->(n)
WITH node, n, coalesce(owner, n) AS d, CASE WHEN n:HwColumn THEN n.name END AS field
WHERE ($given.namespaces IS NULL OR d.namespace IN $given.namespaces)
  AND ($given.types IS NULL OR toUpper(d.type) IN $given.types)
  AND ($given.tags IS NULL OR any(i IN range(0, size(coalesce(d.tags, [])) - 1)
    WHERE (d.tags[i] IN $given.tags OR d.tags[i] + '=' + d.tag_values[i] IN $given.tags)
      AND (field IS NULL OR d.tag_fields[i] IN ['', field])))
RETURN collect(node) AS nodes

// columns_upstream: Columns and whole datasets from which these columns are derived, and influences on their datasets: one level of lineage
CALL () {
  UNWIND $given.nodes AS node
  MATCH (a)<-[e:DERIVES|INFLUENCES]-(b)
  WHERE id(a) = node AND ($given.jobs IS NULL OR e.job IN $given.jobs)
  RETURN collect(node) AS sources, collect(id(b)) AS targets, collect(id(e)) AS edges,
    collect(e.type = 'DIRECT') AS direct, collect(e.plan) AS plans
}
CALL () {
  UNWIND $given.nodes AS node
  MATCH (d:HwDataset)-[:HAS_COLUMN]->(c) WHERE id(c) = node
  RETURN collect(node) AS columns, collect(id(d)) AS owners
}
CALL (owners) {
  UNWIND owners AS owner
  WITH DISTINCT owner
  MATCH (d)<-[e:INFLUENCES]-(b)
  WHERE id(d) = owner AND ($given.jobs IS NULL OR e.job IN $given.jobs)
  RETURN collect(owner) AS datasets, collect(id(b)) AS influencing, collect(id(e)) AS influences,
    collect(e.type = 'DIRECT') AS influences_direct, collect(e.plan) AS influences_plans
}
RETURN sources, targets, edges, direct, plans, columns, owners,
  datasets, influencing, influences, influences_direct, influences_plans

// dataset_keys: Keys of datasets
UNWIND $given.nodes AS node
MATCH (n) WHERE id(n) = node
RETURN collect(node) AS nodes, collect(n.key) AS keys

// datasets_downstream: Datasets that these datasets feed: one level of lineage
UNWIND $given.nodes AS node
MATCH (a)-[:GOES_INTO*0..1]->()-[f:FEEDS]->(b)
WHERE id(a) = node
  AND ($given.jobs IS NULL OR f.job IN $given.jobs)
  AND ($given.as_of IS NULL OR f.first_seen <= $given.as_of)
  AND ($given.since IS NULL OR f.last_seen >= $given.since OR (f.declared AND $given.as_of IS NULL))
RETURN collect(node) AS sources, collect(id(b)) AS targets, collect(id(f)) AS edges

// datasets_shown: Datasets that pass the filters
UNWIND $given.nodes AS node
MATCH (n:HwDataset) WHERE id(n) = node
  AND ($given.namespaces IS NULL OR n.namespace IN $given.namespaces)
  AND ($given.types IS NULL OR toUpper(n.type) IN $given.types)
  AND ($given.tags IS NULL OR any(i IN range(0, size(coalesce(n.tags, [])) - 1)
    WHERE n.tags[i] IN $given.tags OR n.tags[i] + '=' + n.tag_values[i] IN $given.tags))
RETURN collect(node) AS nodes

// datasets_upstream: Datasets that feed these datasets: one level of lineage
UNWIND $given.nodes AS node
MATCH (a)<-[f:FEEDS]-()<-[:GOES_INTO*0..1]-(b:HwDataset)
WHERE id(a) = node
  AND ($given.jobs IS NULL OR f.job IN $given.jobs)
  AND ($given.as_of IS NULL OR f.first_seen <= $given.as_of)
  AND ($given.since IS NULL OR f.last_seen >= $given.since OR (f.declared AND $given.as_of IS NULL))
RETURN collect(node) AS sources, collect(id(b)) AS targets, collect(id(f)) AS edges

// ending: Jobs (not queries) that read datasets and have no known output derived from them; with a label in the pattern, the planner would begin at all jobs
UNWIND $given.datasets AS key
MATCH (d:HwDataset {key: key})
WITH d, COLLECT { MATCH (d)-[f:FEEDS]->() RETURN DISTINCT f.job } AS feeding
MATCH (d)<-[r:READS]-(j)
WHERE 'HwJob' IN labels(j) AND NOT j.key IN feeding AND NOT EXISTS { (d)-[:GOES_INTO]->(j) }
  AND ($given.jobs IS NULL OR j.key IN $given.jobs)
  AND ($given.as_of IS NULL OR r.first_seen <= $given.as_of)
  AND ($given.since IS NULL OR r.last_seen >= $given.since OR (r.declared AND $given.as_of IS NULL))
WITH DISTINCT j ORDER BY j.namespace, j.name LIMIT $given.limit
RETURN collect(j {.key, .namespace, .name, .processing_type}) AS jobs

// fed_by: Datasets that feed a dataset, and the jobs of these hops
MATCH (d:HwDataset) WHERE d.key IN $given.datasets
WITH collect(d) AS fed
UNWIND fed AS d
MATCH (d)<-[f:FEEDS]-()<-[:GOES_INTO*0..1]-(other:HwDataset)
WHERE NOT other.key IN $given.datasets
  AND ($given.jobs IS NULL OR f.job IN $given.jobs)
  AND ($given.as_of IS NULL OR f.first_seen <= $given.as_of)
  AND ($given.since IS NULL OR f.last_seen >= $given.since OR (f.declared AND $given.as_of IS NULL))
WITH other, d, f ORDER BY f.last_seen DESC, f.key LIMIT $given.limit
RETURN collect([other.key, other.title, f.job, f.job_name, d.key]) AS feeds

// feeding: Datasets that a dataset feeds, and the jobs of these hops
MATCH (d:HwDataset)-[:GOES_INTO*0..1]->()-[f:FEEDS]->(other)
WHERE d.key IN $given.datasets
  AND ($given.jobs IS NULL OR f.job IN $given.jobs)
  AND ($given.as_of IS NULL OR f.first_seen <= $given.as_of)
  AND ($given.since IS NULL OR f.last_seen >= $given.since OR (f.declared AND $given.as_of IS NULL))
WITH other, f ORDER BY f.last_seen DESC, f.key LIMIT $given.limit
RETURN collect([other.key, other.title, f.job, f.job_name, other.key]) AS feeds

// jobs: Jobs of a page
UNWIND $given.keys AS key
MATCH (j:HwJob {key: key})
RETURN collect(j {.key, .namespace, .name, .processing_type}) AS jobs

// known_since: First observation of a dataset or column by any job, query or schema; for a column without a schema, that of its dataset
MATCH (n) WHERE id(n) = $given.node
WITH n, head([(d:HwDataset)-[h:HAS_COLUMN]->(n) | [d, h.first_seen]]) AS owner
WITH owner[1] AS first, coalesce(owner[0], n) AS d
WITH first, [()-[l:READS|WRITES]->(d) | l.first_seen] + [(d)-[h:HAS_COLUMN]->() | h.first_seen] AS times
RETURN coalesce(first, reduce(least = null, t IN times | CASE WHEN least <= t OR t IS NULL THEN least ELSE t END)) AS first

// last_complete: First write of each dataset by each job in its last complete application run before a time; in microseconds
UNWIND $given.pairs AS pair
CALL (pair) {
  MATCH (o)-[u:USED]->(p:HwPlan)
  WHERE u._job = pair[0] AND u.first_seen <= $given.until
  WITH o, u, p ORDER BY u._job DESC, u.first_seen DESC LIMIT $given.most
  WITH o, p WHERE pair[1] IN p._outputs
  OPTIONAL MATCH (o)-[:CHILD_OF]->(parent:HwRun) WHERE o.query_id IS NULL
  WITH o, parent
  WHERE CASE
    WHEN o:HwQuery THEN true
    WHEN o.query_id IS NOT NULL THEN o.first_batch IS NOT NULL OR o.state IN ['RUNNING', 'COMPLETE']
    ELSE o.state = 'COMPLETE' AND o.ended_at <= $given.until
      AND (parent.state IS NULL OR (parent.state = 'COMPLETE' AND parent.ended_at <= $given.until))
  END
  RETURN coalesce(parent, o) AS application LIMIT 1
}
CALL (pair, application) {
  MATCH (application)-[u:USED]->(p:HwPlan) WHERE u._job = pair[0] AND pair[1] IN p._outputs
  RETURN u.first_seen AS began
 UNION ALL
  MATCH (application)<-[:CHILD_OF]-(o:HwRun)-[u:USED]->(p:HwPlan)
  WHERE o.query_id IS NULL AND u._job = pair[0] AND pair[1] IN p._outputs
  RETURN u.first_seen AS began
}
WITH pair, min(began) AS began
RETURN pair[0] AS job, pair[1] AS dataset, began.epochMillis * 1000 + began.microsecond % 1000 AS began

// mappings: Column mappings along hops between datasets
UNWIND $given.hops AS hop
MATCH (s:HwDataset) WHERE id(s) = hop[0]
MATCH (t:HwDataset) WHERE id(t) = hop[1]
CALL (s, t, hop) {
  MATCH (t)<-[e:INFLUENCES]-(a)
  WHERE e.job IN hop[2] AND (a = s OR a.dataset = s.key)
  RETURN e, CASE WHEN a = s THEN null ELSE a.name END AS source, null AS target, id(t) AS node
  UNION ALL
  MATCH (t)-[:HAS_COLUMN]->(c:HwColumn)<-[e:DERIVES]-(a)
  WHERE e.job IN hop[2] AND (a = s OR a.dataset = s.key)
  RETURN e, CASE WHEN a = s THEN null ELSE a.name END AS source, c.name AS target, id(c) AS node
}
RETURN hop[0] AS from, hop[1] AS to, source, target, node, id(e) AS edge, e.key AS key, e.plan AS plan, e.job AS job,
  e.type AS type, e.kind AS kind, e.subtype AS subtype, e.masking AS masking, e.expression AS expression

// members: Columns of datasets, now or at a time
UNWIND $given.nodes AS node
MATCH (d:HwDataset)-[r:HAS_COLUMN]->(c:HwColumn) WHERE id(d) = node
  AND CASE WHEN $given.as_of IS NULL THEN r.last_seen IS NULL
      ELSE coalesce(r.first_seen <= $given.as_of, true) AND coalesce(r.last_seen >= $given.as_of, true) END
RETURN collect(node) AS sources, collect(id(c)) AS targets, collect(id(r)) AS edges

// page: A page of datasets, the hops between them, and the jobs of the hops; times in microseconds
CALL () {
  UNWIND $given.nodes AS node
  MATCH (n) WHERE id(n) = node
  RETURN collect([node, n.key, n.namespace, n.name, n.title, n.type, n.symlinks, n.symlink_types, coalesce(n.dropped, false)]) AS datasets
}
CALL () {
  UNWIND $given.edges AS edge
  MATCH ()-[f:FEEDS]->() WHERE id(f) = edge
  WITH edge, f, CASE WHEN f.declarations IS NULL THEN [] ELSE COLLECT {
    UNWIND f.declarations AS key
    MATCH (x:HwDeclaration {key: key})
    UNWIND range(0, size(coalesce(x.partition_inputs, [])) - 1) AS n
    WITH x, n WHERE x.partition_inputs[n] = startNode(f).key AND x.partition_outputs[n] = endNode(f).key
    RETURN DISTINCT [x.partition_input_fields[n], x.partition_output_fields[n], x.partition_transforms[n]]
  } END AS partitions
  RETURN collect([edge, f.job, f.first_seen.epochMillis * 1000 + f.first_seen.microsecond % 1000,
      f.last_seen.epochMillis * 1000 + f.last_seen.microsecond % 1000, coalesce(f.observed, false),
      coalesce(f.declared, false), coalesce(f.possible, false), partitions]) AS feeds,
    collect(DISTINCT f.job) AS keys
}
CALL (keys) {
  UNWIND keys AS key
  MATCH (j:HwJob {key: key})
  RETURN collect([j.key, j.namespace, j.name, j.processing_type]) AS jobs
}
RETURN datasets, feeds, jobs

// plans: All plans of the jobs of these plans, each with its last activity before a time; times in microseconds
CALL () {
  UNWIND $given.plans AS key
  MATCH (:HwPlan {key: key})-[:OF]->(j:HwJob)
  RETURN j
 UNION
  UNWIND $given.jobs AS key
  MATCH (j:HwJob {key: key})
  RETURN j
}
MATCH (p:HwPlan)-[:OF]->(j)
CALL (p) {
  WITH p WHERE $given.as_of IS NOT NULL
  MATCH (p)<-[u:USED]-() WHERE u.first_seen <= $given.as_of
  RETURN max(CASE WHEN u.last_seen > $given.as_of THEN $given.as_of ELSE u.last_seen END) AS used
}
CALL (p) {
  UNWIND p._outputs AS output
  MATCH (d:HwDataset {key: output}) WHERE d.emptied_at IS NOT NULL AND ($given.as_of IS NULL OR d.emptied_at <= $given.as_of)
  RETURN collect([output, d.emptied_at.epochMillis * 1000 + d.emptied_at.microsecond % 1000]) AS emptied
}
WITH j, p, emptied,
  CASE
    WHEN $given.as_of IS NULL THEN p.last_seen
    WHEN used IS NOT NULL THEN used
    WHEN p.first_seen <= $given.as_of AND p.last_seen > $given.as_of THEN $given.as_of
    WHEN p.first_seen <= $given.as_of THEN p.last_seen
  END AS active
ORDER BY active, p.key
RETURN collect([p.key, j.key, p.digest, coalesce(p.digest = j.declared_plan, false)
    OR EXISTS { MATCH (j)<-[:DECLARES]-(x:HwDeclaration) WHERE x.current AND x.plan = p.digest },
  p.first_seen.epochMillis * 1000 + p.first_seen.microsecond % 1000,
  p.last_seen.epochMillis * 1000 + p.last_seen.microsecond % 1000,
  active.epochMillis * 1000 + active.microsecond % 1000,
  CASE WHEN p.complete = false THEN coalesce(p.incomplete_reason, 'no reason given') END,
  p.edges IS NOT NULL, coalesce(p._outputs, []), emptied]) AS plans

// transformations: Hops between columns, of a page
UNWIND $given.edges AS edge
MATCH ()-[e:DERIVES|INFLUENCES]->() WHERE id(e) = edge
RETURN edge, e.key AS key, e.plan AS plan, e.type AS type, e.kind AS kind, e.subtype AS subtype, e.masking AS masking,
  e.expression AS expression, type(e) = 'INFLUENCES' AS whole

// uses: Uses of plans by which jobs wrote datasets between two times, the latest ones; times in microseconds
UNWIND $given.pairs AS pair
CALL (pair) {
  MATCH (o)-[u:USED]->(p:HwPlan)
  WHERE u._job = pair[0] AND u.first_seen >= pair[2] AND u.first_seen <= $given.until
  WITH o, u, p ORDER BY u._job DESC, u.first_seen DESC LIMIT $given.most
  WITH o, u, p WHERE pair[1] IN p._outputs
  OPTIONAL MATCH (o)-[:CHILD_OF]->(parent:HwRun) WHERE o.query_id IS NULL
  WITH o, u, p, parent, CASE WHEN u.last_seen > $given.until THEN $given.until ELSE u.last_seen END AS ended,
    o.state = 'COMPLETE' AND o.ended_at <= $given.until AS ran
  RETURN collect([p.key, coalesce(parent, o).key,
    u.first_seen.epochMillis * 1000 + u.first_seen.microsecond % 1000,
    ended.epochMillis * 1000 + ended.microsecond % 1000,
    CASE
      WHEN o:HwQuery THEN true
      WHEN o.query_id IS NOT NULL THEN o.first_batch IS NOT NULL OR o.state IN ['RUNNING', 'COMPLETE']
      ELSE ran AND (parent.state IS NULL OR (parent.state = 'COMPLETE' AND parent.ended_at <= $given.until))
    END,
    CASE WHEN ran AND o.query_id IS NULL
      THEN [(o)-[w:PRODUCED]->(d:HwDataset)
        WHERE d.key = pair[1] AND (w.facet_names IS NOT NULL OR w.operation IS NOT NULL)
        | w {.facet_names, .facets, .operation}]
      ELSE [] END]) AS uses
}
RETURN pair[0] AS job, pair[1] AS dataset, uses

// writers: Jobs that write a dataset, the latest seen first
MATCH (d:HwDataset)<-[w:WRITES]-(j:HwJob)
WHERE d.key IN $given.datasets
  AND ($given.jobs IS NULL OR j.key IN $given.jobs)
  AND ($given.as_of IS NULL OR w.first_seen <= $given.as_of)
  AND ($given.since IS NULL OR w.last_seen >= $given.since OR (w.declared AND $given.as_of IS NULL))
WITH d, j, w ORDER BY w.last_seen DESC, j.key LIMIT $given.limit
RETURN collect([j.key, j.name, d.key]) AS jobs

// written: Keys of datasets, and of the datasets of columns
UNWIND $given.nodes AS node
MATCH (n) WHERE id(n) = node
RETURN collect(node) AS nodes, collect(coalesce(n.dataset, n.key)) AS datasets

// written_since: Datasets that jobs wrote after a time, in runs after all runs with plans; a running run may still report its plan
UNWIND $given.made AS one
MATCH (j:HwJob {key: one[0]})-[w:WRITES]->(d:HwDataset {key: one[1]})
WHERE w.last_seen > one[2] AND coalesce(w.declared, false) = false
CALL (one, j, w, d) {
  WITH w WHERE $given.as_of IS NULL OR w.last_seen <= $given.as_of
  RETURN w.last_seen AS written
  UNION
  // The dataset was written later, too: only runs show the writes before a time.
  WITH one, j, w, d WHERE w.last_seen > $given.as_of
  MATCH (j)<-[:OF]-(r:HwRun)-[:PRODUCED]->(d) WHERE r.last_seen > one[2] AND r.last_seen <= $given.as_of
  RETURN max(r.last_seen) AS written
}
WITH one, j, written WHERE written IS NOT NULL
CALL (one, written) {
  MATCH (o)-[u:USED]->(p:HwPlan) WHERE u._job = one[0] AND u.first_seen <= written
  WITH o, u, p ORDER BY u._job DESC, u.first_seen DESC LIMIT $given.most
  WITH o, p WHERE one[1] IN p._outputs
  RETURN max(o.last_seen) AS used
}
WITH one, j, written, used
WHERE (used IS NULL OR written > used)
  AND NOT EXISTS {
    MATCH (r:HwRun)
    USING INDEX SEEK r:HwRun(open, last_seen)
    WHERE r.open = true AND r.last_seen >= written
    MATCH (r)-[:OF]->(j)
  }
RETURN one[0] AS job, one[1] AS dataset

// datasets_of: Keys of datasets, and of the datasets of columns, in order
UNWIND $given.nodes AS id
MATCH (n) WHERE id(n) = id
RETURN collect(DISTINCT coalesce(n.dataset, n.key)) AS keys
