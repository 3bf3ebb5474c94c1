// Hops between columns, of a page
UNWIND $given.edges AS edge
MATCH ()-[e:DERIVES|INFLUENCES]->() WHERE id(e) = edge
RETURN edge, e.key AS key, e.plan AS plan, e.type AS type, e.kind AS kind, e.subtype AS subtype, e.masking AS masking,
  e.expression AS expression, type(e) = 'INFLUENCES' AS whole
