// Columns by key
UNWIND $given.keys AS key
MATCH (c:Column {key: key})
RETURN collect([key, id(c)]) AS columns
