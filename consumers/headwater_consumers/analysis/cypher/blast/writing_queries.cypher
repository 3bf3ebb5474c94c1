// Streaming queries that write some datasets, with their job
UNWIND $given.datasets AS dataset
MATCH (:Dataset {key: dataset})<-[:WRITES]-(q:Query)
RETURN dataset, q.key AS key ORDER BY dataset, key
