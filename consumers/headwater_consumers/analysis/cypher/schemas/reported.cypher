// When schemas were first reported
UNWIND $given.keys AS key
MATCH (s:HwSchemaVersion {key: key})
RETURN s.key AS key, s.first_seen AS first_seen
