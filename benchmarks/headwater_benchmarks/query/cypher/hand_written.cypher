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

// downstream_rows: Everything downstream of a dataset, as rows
MATCH (start:HwDataset {key: $key})-[:FEEDS*1..]->(d)
WITH DISTINCT start, d
WHERE d <> start
RETURN d.key AS key, d.namespace AS namespace, d.name AS name

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

// segments_that_read: Segments that read any of some offsets of datasets, as a whole
UNWIND $wants AS want
MATCH (:HwDataset {key: want.dataset})<-[c:CONSUMED]-(s:HwSegment)
WHERE any(part IN want.parts WHERE c.from[part[0]] < part[2] AND part[1] < c.to_exclusive[part[0]])
RETURN want.dataset AS dataset, want.parts AS parts, properties(s) AS segment

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
