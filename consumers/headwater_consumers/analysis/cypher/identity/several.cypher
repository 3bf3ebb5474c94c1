// Datasets that may be one with others: that share a name, are called as another one is, or were renamed
CALL () {
  MATCH (a:HwAlias)
  USING INDEX SEEK a:HwAlias(key)
  WHERE a.key > '' AND a.tenant = $given.tenant
  CALL (a) {
    MATCH (a)<-[:KNOWN_AS]-(d:HwDataset)
    RETURN d.key AS key
    UNION
    MATCH (d:HwDataset {key: a.dataset})
    RETURN d.key AS key
  }
  WITH a, collect(key) AS found
  WHERE size(found) > 1
  UNWIND found AS key
  RETURN key
  UNION
  MATCH (d:HwDataset)
  USING INDEX SEEK d:HwDataset(key)
  WHERE d.key > '' AND d.tenant = $given.tenant AND EXISTS { (d)-[:RENAMED_TO]-() }
  RETURN d.key AS key
}
RETURN collect(DISTINCT key) AS keys
