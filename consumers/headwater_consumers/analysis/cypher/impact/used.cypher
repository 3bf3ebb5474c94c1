// Whether a job was observed to read or write a dataset, under any of its names
RETURN EXISTS { MATCH (d:HwDataset)<-[r:READS|WRITES]-(:HwJob) WHERE d.key IN $given.keys AND r.observed } AS used
