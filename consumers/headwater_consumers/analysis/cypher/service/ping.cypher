// Whether the graph answers a question
RETURN 1 AS one
