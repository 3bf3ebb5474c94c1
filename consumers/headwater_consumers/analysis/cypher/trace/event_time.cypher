// What each start of a query reported of its event time; null for one that reported nothing
MATCH (:HwQuery {key: $given.query})<-[:IN_QUERY]-(r:HwRun)
RETURN DISTINCT head([i IN range(0, size(coalesce(r.facet_names, [])) - 1)
  WHERE r.facet_names[i] = $given.facet | r.facets[i]]) AS reported
