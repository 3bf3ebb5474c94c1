// events: What a generic sink does with raw events, in the order of their offsets: MERGE of everything
UNWIND $events AS event
CALL (event) {
  WITH event, event.interval_event AS body WHERE event.kind = 'INTERVAL'
  MERGE (j:HwJob {tenant: event.tenant, namespace: event.job.namespace, name: event.job.name})
  MERGE (q:HwQuery {tenant: event.tenant, query_id: body.query_id})
  SET q.name = body.query_name, q.checkpoint_location = body.checkpoint_location
  MERGE (r:HwRun {tenant: event.tenant, run_id: event.run.run_id})
  SET r.name = event.job.name, r.producer = event.producer
  MERGE (q)-[:OF]->(j)
  MERGE (r)-[:OF]->(j)
  MERGE (r)-[:IN_QUERY]->(q)
  WITH event, body, q, r
  UNWIND body.entries AS entry
  MERGE (i:Interval {tenant: event.tenant, query_id: body.query_id, batch_id: entry.batch_id})
  SET i.name = 'batch ' + entry.batch_id, i.provenance = body.provenance, i.reason = body.reason,
    i.processing_time = datetime(entry.processing_time), i.watermark_before = datetime(entry.watermark_before),
    i.watermark_after = datetime(entry.watermark_after), i.duration_ms = entry.duration_ms,
    i.rows_in = entry.rows_in, i.rows_out = entry.rows_out, i.code_version = body.versions.code,
    i.engine = body.versions.engine.name, i.engine_version = body.versions.engine.version
  MERGE (i)-[:IN_QUERY]->(q)
  MERGE (i)-[:IN_RUN]->(r)
  WITH event, entry, body, q, i
  CALL (event, entry, q, i) {
    UNWIND entry.inputs AS use
    MERGE (d:HwDataset {tenant: event.tenant, namespace: use.dataset.namespace, name: use.dataset.name})
    MERGE (i)-[c:CONSUMED]->(d)
    SET c.topic = use.position.kafka.topic, c.certainty = use.certainty, c.rows = use.rows,
      c.partitions = [part IN use.position.kafka.ranges | part.partition],
      c.from = [part IN use.position.kafka.ranges | part.from],
      c.to_exclusive = [part IN use.position.kafka.ranges | part.to_exclusive]
    MERGE (q)-[s:READS]->(d)
    SET s.last_seen = datetime(entry.processing_time)
  }
  CALL (event, entry, q, i) {
    UNWIND entry.outputs AS use
    MERGE (d:HwDataset {tenant: event.tenant, namespace: use.dataset.namespace, name: use.dataset.name})
    MERGE (i)-[p:PRODUCED]->(d)
    SET p.topic = use.position.kafka.topic, p.certainty = use.certainty, p.rows = use.rows,
      p.partitions = [part IN use.position.kafka.ranges | part.partition],
      p.from = [part IN use.position.kafka.ranges | part.from],
      p.to_exclusive = [part IN use.position.kafka.ranges | part.to_exclusive]
    MERGE (q)-[s:WRITES]->(d)
    SET s.last_seen = datetime(entry.processing_time)
  }
  CALL (event, entry) {
    UNWIND entry.inputs AS input
    UNWIND entry.outputs AS output
    MATCH (a:HwDataset {tenant: event.tenant, namespace: input.dataset.namespace, name: input.dataset.name})
    MATCH (b:HwDataset {tenant: event.tenant, namespace: output.dataset.namespace, name: output.dataset.name})
    MERGE (a)-[f:FEEDS {job: event.job.namespace + '/' + event.job.name}]->(b)
    SET f.last_seen = datetime(entry.processing_time)
  }
  CALL (event, entry, body, i) {
    MATCH (before:Interval {tenant: event.tenant, query_id: body.query_id, batch_id: entry.batch_id - 1})
    MERGE (before)-[:NEXT]->(i)
  }
  CALL (event, entry, body, i) {
    MATCH (after:Interval {tenant: event.tenant, query_id: body.query_id, batch_id: entry.batch_id + 1})
    MERGE (i)-[:NEXT]->(after)
  }
}
CALL (event) {
  WITH event, event.run_event AS body WHERE event.kind = 'RUN'
  MERGE (j:HwJob {tenant: event.tenant, namespace: event.job.namespace, name: event.job.name})
  SET j.processing_type = body.processing_type
  MERGE (r:HwRun {tenant: event.tenant, run_id: event.run.run_id})
  SET r.name = event.job.name, r.state = body.type, r.producer = event.producer, r.plan_digest = body.plan_digest,
    r.started_at = datetime(body.started_at), r.ended_at = datetime(body.ended_at),
    r.code_version = body.versions.code, r.engine = body.versions.engine.name,
    r.engine_version = body.versions.engine.version
  MERGE (r)-[:OF]->(j)
  MERGE (p:HwPlan {tenant: event.tenant, digest: body.plan_digest})
  MERGE (r)-[:USED]->(p)
  WITH event, body, j, r
  CALL (event, body, j, r) {
    UNWIND body.inputs AS use
    MERGE (d:HwDataset {tenant: event.tenant, namespace: use.dataset.namespace, name: use.dataset.name})
    MERGE (r)-[c:CONSUMED]->(d)
    SET c.rows = use.rows, c.bytes = use.bytes
    MERGE (j)-[s:READS]->(d)
    SET s.last_seen = datetime(event.event_time)
  }
  CALL (event, body, j, r) {
    UNWIND body.outputs AS use
    MERGE (d:HwDataset {tenant: event.tenant, namespace: use.dataset.namespace, name: use.dataset.name})
    MERGE (r)-[p:PRODUCED]->(d)
    SET p.rows = use.rows, p.bytes = use.bytes
    MERGE (j)-[s:WRITES]->(d)
    SET s.last_seen = datetime(event.event_time)
  }
  CALL (event, body) {
    UNWIND body.inputs AS input
    UNWIND body.outputs AS output
    MATCH (a:HwDataset {tenant: event.tenant, namespace: input.dataset.namespace, name: input.dataset.name})
    MATCH (b:HwDataset {tenant: event.tenant, namespace: output.dataset.namespace, name: output.dataset.name})
    MERGE (a)-[f:FEEDS {job: event.job.namespace + '/' + event.job.name}]->(b)
    SET f.last_seen = datetime(event.event_time)
  }
}
CALL (event) {
  WITH event, event.plan_event AS body WHERE event.kind = 'PLAN'
  MERGE (j:HwJob {tenant: event.tenant, namespace: event.job.namespace, name: event.job.name})
  MERGE (p:HwPlan {tenant: event.tenant, digest: body.digest})
  MERGE (p)-[:OF]->(j)
  WITH event, body
  UNWIND body.lineage.edges AS edge
  WITH event, body, edge, body.lineage.datasets[edge.input] AS input, body.lineage.datasets[edge.output] AS output
  MERGE (a:HwDataset {tenant: event.tenant, namespace: input.namespace, name: input.name})
  MERGE (b:HwDataset {tenant: event.tenant, namespace: output.namespace, name: output.name})
  MERGE (x:HwColumn {tenant: event.tenant, dataset: input.namespace + '/' + input.name, name: edge.input_field})
  MERGE (y:HwColumn {tenant: event.tenant, dataset: output.namespace + '/' + output.name, name: edge.output_field})
  MERGE (a)-[:HAS_COLUMN]->(x)
  MERGE (b)-[:HAS_COLUMN]->(y)
  MERGE (x)-[d:DERIVES {plan: body.digest}]->(y)
  SET d.type = edge.type, d.subtype = edge.subtype, d.kind = edge.kind, d.masking = edge.masking
}
CALL (event) {
  WITH event, event.dataset_event AS body WHERE event.kind = 'DATASET'
  MERGE (d:HwDataset {tenant: event.tenant, namespace: body.dataset.namespace, name: body.dataset.name})
  SET d.type = body.type, d.owners = [owner IN body.owners | owner.name], d.tags = [tag IN body.tags | tag.key],
    d.columns = [field IN body.schema.fields | field.path], d.last_seen = datetime(event.event_time)
  WITH event, body, d
  UNWIND body.schema.fields AS field
  MERGE (c:HwColumn {tenant: event.tenant, dataset: body.dataset.namespace + '/' + body.dataset.name, name: field.path})
  SET c.data_type = field.type, c.nullable = field.nullable
  MERGE (d)-[h:HAS_COLUMN]->(c)
  SET h.current = true
}
CALL (event) {
  WITH event, event.job_event AS body WHERE event.kind = 'JOB'
  MERGE (j:HwJob {tenant: event.tenant, namespace: event.job.namespace, name: event.job.name})
  SET j.processing_type = body.processing_type, j.integration = body.integration,
    j.owners = [owner IN body.owners | owner.name]
}
