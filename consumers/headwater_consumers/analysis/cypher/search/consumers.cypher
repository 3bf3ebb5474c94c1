// Consumers that are declared now, by key and name
MATCH (c:HwConsumer)
USING INDEX SEEK c:HwConsumer(key)
WHERE c.key > '' AND c.tenant = $given.tenant AND EXISTS { (c)<-[:DECLARES]-(:HwDeclaration {current: true}) }
RETURN c.key AS key, c.name AS name ORDER BY c.key LIMIT $given.limit
