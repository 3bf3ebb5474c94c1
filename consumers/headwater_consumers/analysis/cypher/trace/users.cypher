// What reads (or writes) some datasets: streaming queries, with their job, and whether batch runs do
UNWIND $given.datasets AS dataset
MATCH (d:Dataset {key: dataset})
RETURN dataset,
  EXISTS { (d)<-[u:READS|WRITES]-(:Job)<-[:OF]-(r:Run) WHERE type(u) = $given.type AND r.query_id IS NULL } AS of_runs,
  COLLECT {
    MATCH (d)<-[u:READS|WRITES]-(q:Query) WHERE type(u) = $given.type
    WITH q ORDER BY q.key
    RETURN q {.key, .query_id, .name, .first_batch, .last_batch, summarized: q._retired IS NOT NULL,
      contested: EXISTS {
        MATCH (s:Segment) USING INDEX SEEK s:Segment(_contested, start) WHERE s._contested = q.key AND s.start >= 0
      },
      rewinds: COLLECT {
        MATCH (s:Segment) USING INDEX SEEK s:Segment(_rewinds) WHERE s._rewinds = q.key RETURN s.rewinds
      },
      job: head([(q)-[:OF]->(j:Job) | j {.key, .namespace, .name, .processing_type}])}
  } AS queries
