// chain_faults: Neighbouring micro-batches whose offsets leave a gap or overlap, by query
MATCH (s:HwSegment)
WHERE s._broken IS NOT NULL
RETURN s._broken AS key,
  sum(reduce(total = 0, gaps IN s.gaps | total + gaps)) AS gaps,
  sum(reduce(total = 0, overlaps IN s.overlaps | total + overlaps)) AS overlaps

// chains: Queries with their numbers of stored and retired micro-batches and of conflicts
MATCH (q:HwQuery)
OPTIONAL MATCH (q)<-[:IN_QUERY]-(s:HwSegment)
WITH q, sum(coalesce(s.batches, 0)) AS intervals, sum(size(coalesce(s.contested, []))) AS conflicts
RETURN q.key AS key, q.tenant AS tenant, q.query_id AS query_id, q.name AS name,
  q.first_batch AS first_batch, q.last_batch AS last_batch,
  intervals, conflicts,
  reduce(total = 0, n IN range(0, size(coalesce(q._retired, [])) - 2, 2) | total + q._retired[n + 1] - q._retired[n]) AS retired
ORDER BY key

// dump_alias: A page of aliases in order of key; they have no outgoing relationships
MATCH (n:HwAlias)
WHERE n.key > $after
WITH n ORDER BY n.key LIMIT $page
RETURN properties(n) AS properties, [] AS leaving

// dump_column: A page of columns in order of key, with their outgoing relationships
MATCH (n:HwColumn)
WHERE n.key > $after
WITH n ORDER BY n.key LIMIT $page
RETURN properties(n) AS properties, EXISTS { (n)<-[:HAS_COLUMN {current: true}]-() } AS current, [(n)-[r:DERIVES|INFLUENCES|RENAMED_TO]->(m) | [type(r), m.key, properties(r)]] AS leaving

// dump_consumer: A page of consumers in order of key, with their outgoing relationships
MATCH (n:HwConsumer)
WHERE n.key > $after
WITH n ORDER BY n.key LIMIT $page
RETURN properties(n) AS properties, [(n)-[r:CONSUMES]->(m) | [type(r), m.key, properties(r)]] AS leaving

// dump_dataset: A page of datasets in order of key, with their outgoing relationships
MATCH (n:HwDataset)
WHERE n.key > $after
WITH n ORDER BY n.key LIMIT $page
RETURN properties(n) AS properties, [(n)-[r:HAS_COLUMN|FEEDS|GOES_INTO|DERIVES|INFLUENCES|KNOWN_AS|RENAMED_TO|DROPPED]->(m) | [type(r), m.key, properties(r)]] AS leaving

// dump_declaration: A page of declarations in order of key, with their outgoing relationships
MATCH (n:HwDeclaration)
WHERE n.key > $after
WITH n ORDER BY n.key LIMIT $page
RETURN properties(n) AS properties, [(n)-[r:DECLARES|IN_SET]->(m) | [type(r), m.key, properties(r)]] AS leaving

// dump_declarationset: A page of declaration sets in order of key; they have no outgoing relationships
MATCH (n:HwDeclarationSet)
WHERE n.key > $after
WITH n ORDER BY n.key LIMIT $page
RETURN properties(n) AS properties, [] AS leaving

// dump_incident: A page of incidents in order of key, with their outgoing relationships
MATCH (n:HwIncident)
WHERE n.key > $after
WITH n ORDER BY n.key LIMIT $page
RETURN properties(n) AS properties, [(n)-[r:CONCERNS|REACHED]->(m) | [type(r), m.key, properties(r)]] AS leaving

// dump_job: A page of jobs in order of key, with their outgoing relationships
MATCH (n:HwJob)
WHERE n.key > $after
WITH n ORDER BY n.key LIMIT $page
RETURN properties(n) AS properties, [(n)-[r:READS|WRITES|FEEDS]->(m) | [type(r), m.key, properties(r)]] AS leaving

// dump_plan: A page of plans in order of key, with their outgoing relationships
MATCH (n:HwPlan)
WHERE n.key > $after
WITH n ORDER BY n.key LIMIT $page
RETURN properties(n) AS properties, [(n)-[r:OF|GENERATES]->(m) | [type(r), m.key, properties(r)]] AS leaving

// dump_query: A page of queries in order of key, with their outgoing relationships
MATCH (n:HwQuery)
WHERE n.key > $after
WITH n ORDER BY n.key LIMIT $page
RETURN properties(n) AS properties, [(n)-[r:OF|READS|WRITES|USED]->(m) | [type(r), m.key, properties(r)]] AS leaving

// dump_retention: A page of retentions in order of key; they have no outgoing relationships
MATCH (n:HwRetention)
WHERE n.key > $after
WITH n ORDER BY n.key LIMIT $page
RETURN properties(n) AS properties, [] AS leaving

// dump_run: A page of runs in order of key, with their outgoing relationships
MATCH (n:HwRun)
WHERE n.key > $after
WITH n ORDER BY n.key LIMIT $page
RETURN properties(n) AS properties, [(n)-[r:OF|IN_QUERY|CHILD_OF|CONSUMED|PRODUCED|READ|WROTE|USED]->(m) | [type(r), m.key, properties(r)]] AS leaving

// dump_schemaversion: A page of schemas of datasets in order of key, with their outgoing relationships
MATCH (n:HwSchemaVersion)
WHERE n.key > $after
WITH n ORDER BY n.key LIMIT $page
RETURN properties(n) AS properties, [(n)-[r:OF]->(m) | [type(r), m.key, properties(r)]] AS leaving

// dump_segment: The next segment by query and batch id, with its outgoing relationships
MATCH (n:HwSegment)
WHERE n.query > $query OR (n.query = $query AND n.start > $start)
WITH n ORDER BY n.query, n.start LIMIT 1
RETURN properties(n) AS properties,
  [(n)-[:IN_QUERY]->(q:HwQuery) | q.key] AS queries,
  [(n)-[r:IN_RUN]->(x:HwRun) | [x.key, r.batches]] AS runs,
  [(n)-[r:CONSUMED|PRODUCED]->(d:HwDataset) | [type(r), d.key, properties(r)]] AS uses,
  [(n)-[r:READ|WROTE]->(v:HwVersion) | [type(r), v.key, r.batches, r.first_time]] AS versions,
  [(n)-[:NEXT]->(m:HwSegment) | m.start] AS next

// dump_version: A page of versions in order of key, with their outgoing relationships
MATCH (n:HwVersion)
WHERE n.key > $after
WITH n ORDER BY n.key LIMIT $page
RETURN properties(n) AS properties, [(n)-[r:OF]->(m) | [type(r), m.key, properties(r)]] AS leaving

// graph_version: Version of the graph's model
MATCH (v:HeadwaterGraph {id: 1}) RETURN v.version AS version

// query_retention: A query with its jobs, its retired batch ids and its summaries
MATCH (q:HwQuery {key: $query})
RETURN q.tenant AS tenant, q.query_id AS query_id, q._retired AS retired,
  [(q)-[:OF]->(j:HwJob) | [j.namespace, j.name]] AS jobs,
  [(s:HwSummary)-[:IN_QUERY]->(q) | [
    properties(s),
    head([(s)-[:IN_RUN]->(x:HwRun) | x.key]),
    [(s)-[r:CONSUMED|PRODUCED]->(d:HwDataset) | [type(r), d.key, properties(r)]]]] AS summaries

// retained_queries: Queries of tenants with retention rules
MATCH (q:HwQuery)
WHERE EXISTS { (r:HwRetention) WHERE r.tenant = q.tenant }
RETURN q.key AS key ORDER BY key

// retired_queries: Queries with retired micro-batches
MATCH (q:HwQuery)
WHERE q._retired IS NOT NULL
RETURN q.key AS key
