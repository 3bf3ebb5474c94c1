// What feeds what: the whole pipeline
MATCH flow = (:HwDataset)-[:FEEDS]->(:HwDataset)
RETURN flow
