// Who is known to use datasets: jobs that read them, those of them that write nothing made of them, and consumers
UNWIND $given.keys AS key
MATCH (d:HwDataset {key: key})
WITH d, key, COLLECT { MATCH (d)-[f:FEEDS]->() RETURN DISTINCT f.job } AS feeding
RETURN collect({key: key, used: EXISTS { (d)<-[:READS|CONSUMES]-() }, dropped: coalesce(d.dropped, false),
  ending: COLLECT { MATCH (j:HwJob)-[:READS]->(d) WHERE NOT j.key IN feeding AND NOT EXISTS { (d)-[:GOES_INTO]->(j) } RETURN j.key ORDER BY j.key }}) AS datasets
