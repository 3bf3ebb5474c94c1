"""The endpoints, an area each: `service` at the root, the others below `/api/v1`."""

from headwater_consumers.api.routes import (
    blast,
    checks,
    declarations,
    deletion,
    diff,
    graph,
    impact,
    intake,
    known,
    lineage,
    privacy,
    runs,
    search,
    service,
    timeline,
    traces,
)

ROUTERS = (
    lineage.router,
    graph.router,
    search.router,
    runs.router,
    timeline.router,
    traces.router,
    blast.router,
    impact.router,
    privacy.router,
    deletion.router,
    diff.router,
    checks.router,
    known.router,
    intake.router,
    declarations.router,
    service.router,
)
