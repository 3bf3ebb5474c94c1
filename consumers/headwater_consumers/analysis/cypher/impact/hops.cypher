// Hops of a page: the job, and what it does
UNWIND $edges AS edge
MATCH ()-[e:DERIVES|INFLUENCES|FEEDS]->() WHERE id(e) = edge
RETURN edge, e.job AS job, e.type AS type, e.kind AS kind, e.subtype AS subtype, e.masking AS masking,
  e.expression AS expression, type(e) = 'INFLUENCES' AS whole
