// A topic
MATCH (dataset:HwDataset {name: $name})
WHERE dataset.namespace STARTS WITH 'kafka:'
RETURN dataset.key AS key
