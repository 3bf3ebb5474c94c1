// All lineage: which dataset feeds which, by which job
MATCH flow = (:Dataset)-[:FEEDS]->(:Dataset)
RETURN flow
LIMIT 500
