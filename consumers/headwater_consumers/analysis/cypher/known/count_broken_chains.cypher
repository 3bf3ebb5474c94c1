// How many pairs of neighbouring intervals don't fit together
MATCH (:Interval)-[n:NEXT]->(b:Interval)
USING INDEX n:NEXT(_broken)
WHERE n._broken IS NOT NULL AND b.tenant = $given.tenant
RETURN count(n) AS total
