// Whether there are consumers
MATCH (c:Consumer)
RETURN c.key AS key LIMIT 1
