// What each start of a query told of its event time; null for one that told nothing
MATCH (:Query {key: $given.query})<-[:IN_QUERY]-(r:Run)
RETURN DISTINCT head([i IN range(0, size(coalesce(r.facet_names, [])) - 1)
  WHERE r.facet_names[i] = $given.facet | r.facets[i]]) AS told
