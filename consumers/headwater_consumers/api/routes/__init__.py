"""The endpoints, an area each: `service` at the root, the others below `/api/v1`."""

from headwater_consumers.api.routes import lineage, service

ROUTERS = (lineage.router, service.router)
