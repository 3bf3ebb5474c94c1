// A query's chain of micro-batches, the latest 25
WITH 'flights.enrich' AS wanted
MATCH (query:Query)-[:OF]->(:Job {name: wanted})
MATCH (batch:Interval)-[:IN_QUERY]->(query)
WITH batch ORDER BY batch.batch_id DESC LIMIT 25
MATCH link = (batch)-[:NEXT]->(:Interval)
RETURN link
