// Everything that a team owns
WITH 'team:flights' AS owner
MATCH (owned:HwJob|HwDataset)
WHERE owner IN owned.owners
OPTIONAL MATCH use = (owned)-[:READS|WRITES]->(:HwDataset)
RETURN owned, use
LIMIT 300
