// flow: What feeds what: the whole pipeline
MATCH flow = (:HwDataset)-[:FEEDS]->(:HwDataset)
RETURN flow

// column: Where the report's mean delay comes from, and how each step makes it
MATCH trace = (:HwColumn)-[:DERIVES*1..6]->(column:HwColumn {name: 'mean_delay'})
WHERE EXISTS {
  (column)<-[:HAS_COLUMN]-(report:HwDataset) WHERE report.name ENDS WITH '/daily_report'
}
RETURN trace

// offsets: Which micro-batches read the first offsets of flights.departed, and what their query wrote
MATCH (topic:HwDataset {name: 'flights.departed'})<-[read:CONSUMED]-(segment:HwSegment)-[:IN_QUERY]->(query:HwQuery)
UNWIND range(0, coalesce(size(read.partitions), 0) - 1) AS n
UNWIND ['0', 'tail'] AS part
WITH *, segment['batch_ids_' + part] AS batches, read['from_' + part] AS first, read['ends_' + part] AS ends
WHERE first[n] = 0
WITH *, head([at IN range(0, size(batches) - 1) WHERE ends[at * size(first) + n] > 0]) AS at
RETURN query.query_name AS query, batches[at] AS batch, read.partitions[n] AS partition, first[n] AS `from`,
       first[n] + ends[at * size(first) + n] AS to_exclusive, [(segment)-[:PRODUCED]->(out) | out.name] AS wrote
ORDER BY query, partition
