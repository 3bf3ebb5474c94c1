// Declaration sets: create the new ones, lock the others and return what their revisions list
UNWIND $batch.rows AS row
MERGE (n:HwDeclarationSet {key: row.key})
  ON CREATE SET n = row
  ON MATCH SET n._l = true
RETURN collect(n {.key, .revision, ._revised, ._items, ._missing}) AS found
