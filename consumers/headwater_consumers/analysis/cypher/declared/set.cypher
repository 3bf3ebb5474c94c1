// A declaration set, and how many of some declarations are there
OPTIONAL MATCH (s:DeclarationSet {key: $given.subject})
CALL () {
  UNWIND $given.keys AS key
  MATCH (n:Declaration {key: key})
  RETURN count(n) AS there
}
RETURN s.revision AS revision, s._items AS items, s._missing AS missing, s.format AS format, s.source AS source,
  s.document AS document, there
