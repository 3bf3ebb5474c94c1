// Names of datasets that aren't there
UNWIND $given.datasets AS row
OPTIONAL MATCH (d:HwDataset {key: row[0]})
WITH row, d
WHERE d IS NULL
RETURN row[1] AS namespace, row[2] AS name
