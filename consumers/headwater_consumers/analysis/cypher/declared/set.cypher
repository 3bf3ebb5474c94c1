// A declaration set
MATCH (s:HwDeclarationSet {key: $given.subject})
RETURN s.revision AS revision, s._items AS items, s._missing AS missing, s.format AS format, s.source AS source,
  s.document AS document
