// Datasets that no one owns, by how many jobs use them
MATCH (dataset:HwDataset)
WHERE coalesce(size(dataset.owners), 0) = 0
RETURN dataset.title AS dataset, dataset.namespace AS namespace, COUNT { (dataset)<-[:READS|WRITES]-(:HwJob) } AS jobs
ORDER BY jobs DESC, dataset
LIMIT 100
