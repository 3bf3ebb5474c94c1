// Formulas of edges of column lineage, and the fields that they are of
UNWIND $given.edges AS edge
MATCH (a)-[e:DERIVES|INFLUENCES]->() WHERE id(e) = edge
RETURN collect(edge) AS edges, collect([e.expression, CASE WHEN a:HwColumn THEN a.name END]) AS texts
