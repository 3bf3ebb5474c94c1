// Blast radius, drawn: the segment of a micro-batch, what it wrote, and who reads that
WITH 'flights.enrich' AS wanted, 3 AS batch_id
MATCH (query:HwQuery)-[:OF]->(:HwJob {name: wanted})
MATCH (bad:HwSegment) WHERE bad.query = query.key AND bad.start = batch_id / 512 * 512
MATCH (bad)-[:PRODUCED]->(out:HwDataset)
MATCH spread = (bad)-[:PRODUCED]->(out)-[:FEEDS*0..6]->(:HwDataset)
RETURN spread
LIMIT 300
