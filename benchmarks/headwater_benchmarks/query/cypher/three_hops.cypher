// What is within three hops downstream of a dataset: how much there is, and the nearest thousand
MATCH (start:HwDataset {key: $key})
MATCH path = (start)-[:FEEDS*1..3]->(d)
WITH start, d, min(length(path)) AS hops
WHERE d <> start
WITH d, hops ORDER BY hops, d.key
WITH collect({dataset: d, hops: hops}) AS found
UNWIND found[..1000] AS item
RETURN size(found) AS total, item.hops AS hops, item.dataset.key AS key, item.dataset.namespace AS namespace,
  item.dataset.name AS name
