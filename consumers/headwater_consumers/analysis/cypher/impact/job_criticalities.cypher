// Of these jobs, those that have a criticality, declared or reported
UNWIND $given.keys AS key
MATCH (j:Job {key: key})
WITH j, CASE WHEN $given.declarations THEN head(COLLECT {
  MATCH (j)<-[:DECLARES]-(x:Declaration {current: true})-[:IN_SET]->(by:DeclarationSet) WHERE x.criticality IS NOT NULL
  RETURN x.criticality ORDER BY by.name
}) END AS declared
WITH j, coalesce(declared, j.criticality) AS criticality WHERE criticality IS NOT NULL
RETURN collect([j.key, j.name, criticality]) AS jobs
