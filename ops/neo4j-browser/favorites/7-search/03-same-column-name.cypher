// Columns of one name, wherever they are
WITH 'carrier' AS wanted
MATCH (column:HwColumn)<-[has:HAS_COLUMN]-(dataset:HwDataset)
WHERE last(split(column.name, '.')) = wanted
RETURN dataset.title AS dataset, column.name AS column, column.data_type AS type, has.current AS current
ORDER BY dataset, column
LIMIT 300
