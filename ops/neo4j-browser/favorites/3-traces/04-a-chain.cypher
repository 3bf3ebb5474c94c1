// A query's chain of segments, the latest 25, each of up to 512 micro-batches
WITH 'flights.enrich' AS wanted
MATCH (query:HwQuery)-[:OF]->(:HwJob {name: wanted})
MATCH (segment:HwSegment) WHERE segment.query = query.key AND segment.start >= 0
WITH query, segment ORDER BY segment.query DESC, segment.start DESC LIMIT 25
MATCH of = (segment)-[:IN_QUERY]->(query)
OPTIONAL MATCH link = (segment)-[:NEXT]->(:HwSegment)
RETURN of, link
