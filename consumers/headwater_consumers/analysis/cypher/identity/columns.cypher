// Columns by key
UNWIND $given.keys AS key
MATCH (c:HwColumn {key: key})
RETURN collect([key, id(c)]) AS columns
