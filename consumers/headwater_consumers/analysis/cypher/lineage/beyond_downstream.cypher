// Which datasets these feed, and which of them themselves, at the end of a search; with keys of all that it found
CALL () {
  UNWIND $given.nodes AS node
  MATCH (a)-[:GOES_INTO*0..1]->()-[f:FEEDS]->(b)
  WHERE id(a) = node
    AND ($given.jobs IS NULL OR f.job IN $given.jobs)
    AND ($given.as_of IS NULL OR f.first_seen <= $given.as_of)
    AND ($given.since IS NULL OR f.last_seen >= $given.since OR (f.declared AND $given.as_of IS NULL))
  WITH node, f, id(b) AS target
  RETURN collect(DISTINCT target) AS targets, collect(CASE WHEN target = node THEN node END) AS looped,
    collect(CASE WHEN target = node THEN id(f) END) AS loops
}
CALL () {
  UNWIND $given.found AS node
  MATCH (n) WHERE id(n) = node
  RETURN collect(node) AS found, collect(n.key) AS keys
}
RETURN targets, looped, loops, found, keys
