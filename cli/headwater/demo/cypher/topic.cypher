// A topic
MATCH (dataset:Dataset {name: $name})
WHERE dataset.namespace STARTS WITH 'kafka:'
RETURN dataset.key AS key
