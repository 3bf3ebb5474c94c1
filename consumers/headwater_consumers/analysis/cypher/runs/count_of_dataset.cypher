// How many runs read or wrote a dataset
MATCH (d:Dataset {key: $of})<-[link:READS|WRITES]-(:Job)<-[:OF]-(r:Run)
WHERE type(link) = $link AND ($states IS NULL OR r.state IN $states)
WITH DISTINCT d, r, coalesce(r.started_at, r.first_seen, r.last_seen, $epoch) AS began
WHERE ($since IS NULL OR began >= $since) AND ($until IS NULL OR began < $until)
WITH d, r
WHERE EXISTS { (r)-[own:CONSUMED|PRODUCED]->(d) WHERE type(own) = $use }
  OR EXISTS {
    MATCH (r)<-[:IN_RUN]-(i:Interval)
    WITH i LIMIT $probed
    MATCH (i)-[part:CONSUMED|PRODUCED]->(d) WHERE type(part) = $use
    RETURN part
  }
RETURN count(r) AS total
