// Which of some datasets anything reads (or writes)
UNWIND $given.datasets AS dataset
MATCH (d:Dataset {key: dataset})
RETURN dataset, EXISTS { (d)<-[:READS]-() } AS read, EXISTS { (d)<-[:WRITES]-() } AS written
