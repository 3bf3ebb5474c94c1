// How many intervals each of these queries has, in a span of time
UNWIND $queries AS query
MATCH (i:Interval {query: query})
WHERE ($begin IS NULL OR i.processing_time >= $begin) AND ($end IS NULL OR i.processing_time < $end)
RETURN sum(1) AS total
