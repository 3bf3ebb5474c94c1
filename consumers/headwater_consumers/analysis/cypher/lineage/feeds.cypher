// Hops between datasets, of a page; times in microseconds
UNWIND $edges AS edge
MATCH ()-[f:FEEDS]->() WHERE id(f) = edge
RETURN collect([edge, f.job, f.first_seen.epochSeconds * 1000000 + f.first_seen.microsecond,
  f.last_seen.epochSeconds * 1000000 + f.last_seen.microsecond, coalesce(f.observed, false), coalesce(f.declared, false)])
  AS feeds
