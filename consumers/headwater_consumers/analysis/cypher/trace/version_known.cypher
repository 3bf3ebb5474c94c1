// Whether a version is known
MATCH (v:HwVersion {key: $given.key})
RETURN v.key AS key
