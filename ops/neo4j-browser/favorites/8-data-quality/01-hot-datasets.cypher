// Hot datasets: most read, and most that depends on them
MATCH (dataset:HwDataset)
WITH dataset, COUNT { (dataset)<-[:READS]-(:HwJob) } AS readers
WHERE readers > 0
CALL (dataset) {
  MATCH (dataset)-[:FEEDS*1..6]->(further:HwDataset)
  WHERE further <> dataset
  RETURN count(DISTINCT further) AS behind
}
RETURN dataset.title AS dataset, dataset.namespace AS namespace, readers, behind
ORDER BY readers + behind DESC, dataset
LIMIT 20
