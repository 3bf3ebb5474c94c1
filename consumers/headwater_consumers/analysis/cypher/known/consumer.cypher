// Consumers by key
MATCH (c:HwConsumer)
USING INDEX SEEK c:HwConsumer(key)
WHERE c.key IN $given.keys AND c.tenant = $given.tenant
RETURN c.key AS key, c.name AS name
