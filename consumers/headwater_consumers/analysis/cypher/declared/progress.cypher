// How far a declaration set is, and how many of some declarations are there
OPTIONAL MATCH (s:HwDeclarationSet {key: $given.subject})
CALL () {
  UNWIND $given.keys AS key
  MATCH (n:HwDeclaration {key: key})
  RETURN count(n) AS there
}
RETURN coalesce(s.revision, 0) AS revision, there
