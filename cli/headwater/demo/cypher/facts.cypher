// column_edges: Every edge of column lineage, of a column or of a dataset as a whole, and whether the value itself comes over it
MATCH (source)-[edge:DERIVES|INFLUENCES]->(target)
RETURN DISTINCT source.key AS source, target.key AS target, edge:DERIVES AS derives

// columns: Every column and its dataset
MATCH (dataset:HwDataset)-[:HAS_COLUMN]->(column:HwColumn)
RETURN column.key AS column, dataset.key AS dataset

// count_nodes: How many nodes of each label
MATCH (node)
WHERE node.key IS NOT NULL
UNWIND labels(node) AS label
WITH label
WHERE label STARTS WITH 'Hw'
RETURN substring(label, 2) AS label, count(*) AS count
ORDER BY label

// count_relationships: How many relationships of each type
MATCH ()-[relationship]->()
RETURN type(relationship) AS type, count(*) AS count
ORDER BY type

// report_columns: Columns of the dataset whose name ends with a suffix
MATCH (dataset:HwDataset)-[:HAS_COLUMN]->(column:HwColumn)
WHERE dataset.name ENDS WITH $suffix
RETURN column.key AS key, column.name AS name
ORDER BY column.position, name

// runs: State of every run
MATCH (run:HwRun)
RETURN run.name AS run, coalesce(run.state, 'UNKNOWN') AS state

// topic: A topic
MATCH (dataset:HwDataset {name: $name})
WHERE dataset.namespace STARTS WITH 'kafka:'
RETURN dataset.key AS key
