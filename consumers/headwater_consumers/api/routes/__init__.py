"""The endpoints, an area each: `service` at the root, the others below `/api/v1`."""

from headwater_consumers.api.routes import graph, lineage, search, service

ROUTERS = (lineage.router, graph.router, search.router, service.router)
