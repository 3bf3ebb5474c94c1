// Consumers that are declared now, by key and name
MATCH (c:Consumer)
USING INDEX SEEK c:Consumer(key)
WHERE c.key > '' AND c.tenant = $given.tenant AND EXISTS { (c)<-[:DECLARES]-(:Declaration {current: true}) }
RETURN c.key AS key, c.name AS name ORDER BY c.key LIMIT $given.limit
