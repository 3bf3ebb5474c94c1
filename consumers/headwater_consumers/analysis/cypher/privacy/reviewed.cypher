// Columns declared sensitive, of those from which a column is made that has an approval or a declared size of its groups
MATCH (x:Declaration)
USING INDEX SEEK x:Declaration(key)
WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.subject_type = 'dataset'
MATCH (x)-[r:DECLARES]->(c:Column) WHERE r.smallest_group IS NOT NULL OR r.approval_by IS NOT NULL
MATCH (source:Column)-[e:DERIVES]->(c)
WHERE e.type = 'DIRECT'
  AND EXISTS { (source)<-[s:DECLARES]-(:Declaration {current: true}) WHERE s.sensitivity IN $given.sensitive }
RETURN collect(DISTINCT id(source)) AS sources
