// Whether something is declared
MATCH (x:Declaration)
RETURN x.key AS key LIMIT 1
