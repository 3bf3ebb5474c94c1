// Summaries of days of which nothing is kept
MATCH (n:HwSummary)
USING INDEX n:HwSummary(query, first_batch)
WHERE n.query = $batch.query AND n.first_batch >= 0 AND (n.day < $batch.before OR n.day IS NULL)
DETACH DELETE n
RETURN [count(*)] AS found
