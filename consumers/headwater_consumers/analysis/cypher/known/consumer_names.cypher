// Names of consumers that are declared now
MATCH (c:Consumer)
USING INDEX SEEK c:Consumer(key)
WHERE c.key > '' AND c.tenant = $given.tenant AND EXISTS { (c)<-[:DECLARES]-(:Declaration {current: true}) }
RETURN c.name AS name ORDER BY c.key LIMIT $given.limit
