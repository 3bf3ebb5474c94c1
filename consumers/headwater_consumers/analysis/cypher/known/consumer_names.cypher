// Names of consumers that are declared now
MATCH (c:HwConsumer)
USING INDEX SEEK c:HwConsumer(key)
WHERE c.key > '' AND c.tenant = $given.tenant AND EXISTS { (c)<-[:DECLARES]-(:HwDeclaration {current: true}) }
RETURN c.name AS name ORDER BY c.key LIMIT $given.limit
