// Consumers whose keys begin so
MATCH (c:HwConsumer)
USING INDEX SEEK c:HwConsumer(key)
WHERE c.key STARTS WITH $given.prefix AND c.tenant = $given.tenant
RETURN c.key AS key, c.name AS name ORDER BY c.key LIMIT $given.limit
