// A column of a dataset, by the keys that it has under each of the dataset's names: the first that the schema has now
UNWIND range(0, size($given.keys) - 1) AS n
MATCH (c:HwColumn)<-[r:HAS_COLUMN]-(:HwDataset)
USING INDEX SEEK c:HwColumn(key)
WHERE c.key = $given.keys[n]
RETURN c {.key, .name, .data_type, .nullable, .description, .position} AS column,
  r {.current, .first_seen, .last_seen} AS link
ORDER BY coalesce(r.current, false) DESC, n LIMIT 1
