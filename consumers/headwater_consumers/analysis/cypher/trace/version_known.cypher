// Whether a version is known
MATCH (v:Version {key: $key})
RETURN v.key AS key
