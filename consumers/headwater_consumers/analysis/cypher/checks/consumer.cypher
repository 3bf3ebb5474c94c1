// Whether there is a consumer of that name
MATCH (c:HwConsumer {key: $given.key}) WHERE c.tenant = $given.tenant
RETURN c.key AS key
