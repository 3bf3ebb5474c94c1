// Blast radius, drawn: a micro-batch, what it wrote, and who reads that
WITH 'flights.enrich' AS wanted, 3 AS batch_id
MATCH (bad:Interval {batch_id: batch_id})-[:IN_QUERY]->(:Query)-[:OF]->(:Job {name: wanted})
MATCH (bad)-[:PRODUCED]->(out:Dataset)
MATCH spread = (bad)-[:PRODUCED]->(out)-[:FEEDS*0..6]->(:Dataset)
RETURN spread
LIMIT 300
