// counts: Number of datasets and of jobs
CALL () { MATCH (d:HwDataset) WHERE d.tenant = $given.tenant RETURN count(d) AS datasets }
CALL () { MATCH (j:HwJob) WHERE j.tenant = $given.tenant RETURN count(j) AS jobs }
RETURN datasets, jobs

// graph: Version of the graph's model; whether it has several names, declarations, declared consumers, open incidents; the consumers' progress
OPTIONAL MATCH (v:HeadwaterGraph {id: 1})
CALL () { MATCH (a:HwAlias) RETURN count(a) AS aliases }
CALL () { MATCH ()-[r:RENAMED_TO]->() RETURN count(r) AS renames }
CALL () { MATCH ()-[r:DROPPED]->() RETURN count(r) AS drops }
CALL () { MATCH ()-[r:CONSUMES]->() RETURN count(r) AS consumes }
CALL () { MATCH (x:HwDeclaration) RETURN count(x) AS declarations }
CALL () { MATCH (i:HwIncident) WHERE i.state IN ['New', 'Ack', 'Assigned'] RETURN count(i) AS incidents }
CALL () {
  MATCH (p:HwProgress)
  USING INDEX SEEK p:HwProgress(key)
  WHERE p.key > ''
  RETURN collect(p {.topic, .topic_id, .partition, .next_offset, .end_offset, .last_record_ms,
    at: p.at.epochMillis, now: datetime().epochMillis}) AS progress
}
RETURN v.version AS version, aliases + renames + drops > 0 AS several_names,
  consumes > 0 AS consumers, declarations > 0 AS declarations, incidents > 0 AS incidents, progress

// ping: Check that the graph answers a question
RETURN 1 AS one
