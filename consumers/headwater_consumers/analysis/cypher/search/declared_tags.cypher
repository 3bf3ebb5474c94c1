// Tags that are declared of datasets, of their columns, or of jobs
MATCH (x:HwDeclaration)
USING INDEX SEEK x:HwDeclaration(key)
WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.subject_type IN ['dataset', 'job']
MATCH (x)-[r:DECLARES]->(n)
WITH CASE WHEN n:HwColumn THEN r.tags ELSE x.tags END AS tags, CASE WHEN n:HwColumn THEN r.tag_values ELSE x.tag_values END AS tag_values
UNWIND range(0, size(coalesce(tags, [])) - 1) AS n
RETURN DISTINCT tags[n] AS key, tag_values[n] AS value
