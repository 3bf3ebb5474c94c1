// Consumers by key
MATCH (c:Consumer)
USING INDEX SEEK c:Consumer(key)
WHERE c.key IN $given.keys AND c.tenant = $given.tenant
RETURN c.key AS key, c.name AS name
