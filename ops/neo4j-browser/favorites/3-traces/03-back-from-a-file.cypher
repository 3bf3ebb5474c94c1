// Back from a dataset's newest files to the exact offsets they were made of
WITH 'delays' AS wanted
MATCH (out:Dataset) WHERE wanted IN [out.name, out.title]
MATCH (batch:Interval)-[wrote:PRODUCED]->(out)
WHERE wrote.files > 0
WITH batch, wrote, out ORDER BY batch.batch_id DESC LIMIT 5
MATCH (batch)-[read:CONSUMED]->(source:Dataset), (batch)-[:IN_QUERY]->(query:Query)
RETURN wrote.paths AS files, query.name AS query, batch.batch_id AS batch, batch.run_id AS run,
       source.title AS made_of, read.certainty AS certainty,
       [n IN range(0, size(read.partitions) - 1) |
        toString(read.partitions[n]) + ': ' + toString(read.from[n]) + ' to ' + toString(read.to_exclusive[n] - 1)] AS offsets
ORDER BY batch DESC, made_of
