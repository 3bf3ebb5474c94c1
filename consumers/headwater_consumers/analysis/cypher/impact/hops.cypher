// Hops of a page: the job, and what it does
UNWIND $given.edges AS edge
MATCH ()-[e:DERIVES|INFLUENCES|FEEDS]->() WHERE id(e) = edge
RETURN collect({edge: edge, job: e.job, type: e.type, kind: e.kind, subtype: e.subtype, masking: e.masking,
  expression: e.expression, whole: type(e) = 'INFLUENCES'}) AS hops
