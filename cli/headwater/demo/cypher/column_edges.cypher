// Every edge of column lineage, of a column or of a dataset as a whole, and whether the value itself comes over it
MATCH (source)-[edge:DERIVES|INFLUENCES]->(target)
RETURN DISTINCT source.key AS source, target.key AS target, edge:DERIVES AS derives
