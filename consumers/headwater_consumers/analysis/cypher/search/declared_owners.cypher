// Owners that are declared of datasets or jobs
MATCH (x:HwDeclaration)
USING INDEX SEEK x:HwDeclaration(key)
WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.subject_type IN ['dataset', 'job']
UNWIND x.owners AS owner
RETURN DISTINCT owner AS key, '' AS value
