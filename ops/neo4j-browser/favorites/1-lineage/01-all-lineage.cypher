// All lineage: which dataset feeds which, by which job
MATCH flow = (:HwDataset)-[:FEEDS]->(:HwDataset)
RETURN flow
LIMIT 500
