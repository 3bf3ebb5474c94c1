// nodes: How many nodes each label has
MATCH (n) RETURN labels(n)[0] AS kind, count(*) AS many

// relationships: How many relationships each type has
MATCH ()-[r]->() RETURN type(r) AS kind, count(*) AS many
