// The first run after another that read or wrote a dataset, by state
MATCH (d:Dataset {key: $of})<-[link:READS|WRITES]-(:Job)<-[:OF]-(r:Run)
WHERE type(link) = $link AND r.state IN $states
WITH DISTINCT d, r, coalesce(r.started_at, r.first_seen, r.last_seen, $epoch) AS began
WHERE $began IS NULL OR began > $began OR (began = $began AND r.key > $key)
WITH d, r, began ORDER BY began, r.key
WHERE EXISTS { (r)-[own:CONSUMED|PRODUCED]->(d) WHERE type(own) = $use }
  OR EXISTS {
    MATCH (r)<-[:IN_RUN]-(i:Interval)
    WITH i LIMIT $probed
    MATCH (i)-[part:CONSUMED|PRODUCED]->(d) WHERE type(part) = $use
    RETURN part
  }
WITH r, began LIMIT 1
RETURN r {.key, .run_id, .name, .job_namespace, .job_name, .processing_type, .state, .ended_at, .code_version, .config_version, .plan_digest, .error_type, .error_message, .query_id, .first_batch, .last_batch, began: coalesce(r.started_at, r.first_seen, r.last_seen)} AS run
