// Which of these jobs don't tell what they do with columns
UNWIND $jobs AS key
MATCH (j:Job {key: key})
CALL (j) {
  OPTIONAL MATCH (p:Plan)-[:OF]->(j)
  RETURN p ORDER BY coalesce(p.digest = j.declared_plan, false) DESC, coalesce(p.last_seen, p.first_seen) DESC LIMIT 1
}
WITH key, p WHERE p IS NULL OR p.edges IS NULL OR p.complete = false
RETURN collect(key) AS jobs
