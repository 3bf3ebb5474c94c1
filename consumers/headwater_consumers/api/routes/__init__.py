"""The endpoints, an area each: `service` at the root, the others below `/api/v1`."""

from headwater_consumers.api.routes import graph, impact, lineage, search, service, timeline, traces

ROUTERS = (lineage.router, graph.router, search.router, timeline.router, traces.router, impact.router, service.router)
