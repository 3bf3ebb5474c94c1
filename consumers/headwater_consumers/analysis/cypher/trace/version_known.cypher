// Whether a version is known
MATCH (v:Version {key: $given.key})
RETURN v.key AS key
