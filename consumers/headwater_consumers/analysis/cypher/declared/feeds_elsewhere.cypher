// Which dataset feeds which by what other sets than one declare, as texts of two keys
MATCH (x:HwDeclaration)
USING INDEX SEEK x:HwDeclaration(key)
WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.subject_type = 'job' AND x.set <> $given.set
UNWIND x._feeds AS pair
RETURN collect(DISTINCT pair) AS pairs
