// Who is known to use datasets: jobs that read them, those of them that write nothing, and consumers
UNWIND $given.keys AS key
MATCH (d:HwDataset {key: key})
RETURN collect({key: key, used: EXISTS { (d)<-[:READS|CONSUMES]-() }, dropped: coalesce(d.dropped, false),
  ending: COLLECT { MATCH (j:HwJob)-[:READS]->(d) WHERE NOT EXISTS { (j)-[:WRITES]->() } RETURN j.key ORDER BY j.key }}) AS datasets
