// Hops between datasets, of a page
UNWIND $edges AS edge
MATCH ()-[f:FEEDS]->() WHERE id(f) = edge
RETURN edge, f.key AS key, f.job AS job, f.first_seen AS first_seen, f.last_seen AS last_seen,
  coalesce(f.observed, false) AS observed, coalesce(f.declared, false) AS declared
