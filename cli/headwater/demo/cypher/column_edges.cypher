// Every edge of column lineage, direct or not, of a column or of a dataset as a whole
MATCH (source)-[:DERIVES|INFLUENCES]->(target)
RETURN DISTINCT source.key AS source, target.key AS target
