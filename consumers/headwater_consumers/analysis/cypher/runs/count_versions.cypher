// How many versions a dataset has
MATCH (d:HwDataset)<-[:OF]-(v:HwVersion) WHERE d.key IN $given.of
RETURN count(v) AS total
