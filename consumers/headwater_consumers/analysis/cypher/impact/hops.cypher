// Hops of a page: the job, and what it does
UNWIND $given.edges AS edge
MATCH ()-[e:DERIVES|INFLUENCES|FEEDS]->() WHERE id(e) = edge
RETURN collect({edge: edge, job: e.job, type: e.type, kind: e.kind, subtype: e.subtype, masking: e.masking,
  expression: e.expression, whole: type(e) = 'INFLUENCES', possible: coalesce(e.possible AND e.declared IS NULL, false)}) AS hops
