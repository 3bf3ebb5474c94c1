// datasets: Datasets, among these, that the asker may see
MATCH (d:HwDataset) WHERE d.key IN $given.keys
RETURN collect(d.key) AS keys

// runs: Runs, among these, that the asker may see
MATCH (r:HwRun) WHERE r.key IN $given.keys
RETURN collect(r.key) AS keys
