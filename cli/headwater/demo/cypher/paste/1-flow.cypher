// What feeds what: the whole pipeline
MATCH flow = (:Dataset)-[:FEEDS]->(:Dataset)
RETURN flow
