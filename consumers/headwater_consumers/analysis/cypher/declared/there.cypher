// Declarations that are there, of some
UNWIND $given.keys AS key
MATCH (n:HwDeclaration {key: key})
RETURN collect(n.key) AS there
