// How many intervals each of these queries has, in a span of time
UNWIND $given.queries AS query
MATCH (i:Interval {query: query})
WHERE ($given.begin IS NULL OR i.processing_time >= $given.begin) AND ($given.end IS NULL OR i.processing_time < $given.end)
RETURN sum(1) AS total
