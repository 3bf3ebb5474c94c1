// Everything that a team owns
WITH 'team:flights' AS owner
MATCH (owned:Job|Dataset)
WHERE owner IN owned.owners
OPTIONAL MATCH use = (owned)-[:READS|WRITES]->(:Dataset)
RETURN owned, use
LIMIT 300
