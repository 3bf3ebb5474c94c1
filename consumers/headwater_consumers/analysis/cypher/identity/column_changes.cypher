// Columns of datasets of which some were renamed or dropped, and when
UNWIND $given.keys AS key
MATCH (d:HwDataset {key: key})
WITH d,
  COLLECT { MATCH (d)-[:HAS_COLUMN]->(c)-[r:RENAMED_TO]->(to:HwColumn) RETURN [c.name, to.name, r.first_seen, r.last_seen] }
  + COLLECT { MATCH (d)-[r:DROPPED]->(c) RETURN [c.name, null, r.first_seen, r.last_seen] } AS changes
WHERE size(changes) > 0
RETURN d.key AS key, changes,
  COLLECT { MATCH (d)-[h:HAS_COLUMN]->(c) RETURN [c.name, h.first_seen, h.last_seen, coalesce(h.current, false)] } AS columns
