// Streaming queries that write some datasets, with their job
UNWIND $given.datasets AS dataset
MATCH (:HwDataset {key: dataset})<-[:WRITES]-(q:HwQuery)
RETURN dataset, q.key AS key ORDER BY dataset, key
