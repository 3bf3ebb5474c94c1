// downstream: Everything downstream of a dataset: how much there is, and the nearest thousand
MATCH (start:HwDataset {key: $key})
MATCH path = (start)-[:FEEDS*1..]->(d)
WITH start, d, min(length(path)) AS hops
WHERE d <> start
WITH d, hops ORDER BY hops, d.key
WITH collect({dataset: d, hops: hops}) AS found
UNWIND found[..1000] AS item
RETURN size(found) AS total, item.hops AS hops, item.dataset.key AS key, item.dataset.namespace AS namespace,
  item.dataset.name AS name

// impact: Which datasets wrong data reaches: how many by criticality, and the nearest thousand with their owners
MATCH (start:HwDataset {key: $key})
MATCH path = (start)-[:FEEDS*1..]->(d)
WITH start, d, min(length(path)) AS hops
WHERE d <> start
WITH d, hops ORDER BY hops, d.key
WITH collect({dataset: d, hops: hops}) AS found
CALL (found) {
  UNWIND found AS item
  WITH coalesce(item.dataset.criticality, '') AS criticality, count(*) AS many
  RETURN collect([criticality, many]) AS totals
}
UNWIND found[..1000] AS item
RETURN size(found) AS total, totals, item.hops AS hops, item.dataset.key AS key, item.dataset.namespace AS namespace,
  item.dataset.name AS name, item.dataset.owners AS owners, item.dataset.criticality AS criticality

// three_hops: What is within three hops downstream of a dataset: how much there is, and the nearest thousand
MATCH (start:HwDataset {key: $key})
MATCH path = (start)-[:FEEDS*1..3]->(d)
WITH start, d, min(length(path)) AS hops
WHERE d <> start
WITH d, hops ORDER BY hops, d.key
WITH collect({dataset: d, hops: hops}) AS found
UNWIND found[..1000] AS item
RETURN size(found) AS total, item.hops AS hops, item.dataset.key AS key, item.dataset.namespace AS namespace,
  item.dataset.name AS name
