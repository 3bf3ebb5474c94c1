"""IncidentEvent: an entry of an incident's log, the datasets of a REACHED, and the nodes that an action names."""

from __future__ import annotations

import msgspec

from headwater_graph.facts.incidents import IncidentEntry
from headwater_graph.facts.nodes import ColumnFacts
from headwater_graph.fold.builder import Builder
from headwater_schemas.events import IncidentAction, IncidentEvent, IncidentScope, LineageEvent
from headwater_schemas.identity import incident_content, reached_text


def fold_incident(into: Builder, event: LineageEvent, body: IncidentEvent, stamp: str) -> None:
    """Fold an IncidentEvent into `into`. An incident isn't an observation, so it widens no span."""
    incident = into.incident(event.tenant, body.incident)
    # The log doesn't keep the datasets of each REACHED: it would grow by all these datasets at every request.
    incident.add(IncidentEntry(stamp, incident_content(msgspec.structs.replace(body, reached=None))))
    if body.reached is not None:
        incident.reach(IncidentEntry(stamp, reached_text(body.reached)))
        for reached in body.reached:
            into.dataset(event.tenant, reached.dataset)
    if body.action is not IncidentAction.REPAIRED:
        # REPAIRED adds no parts to the scope, and only parts of the scope have relationships.
        for part in body.scope or ():
            _mention(into, event.tenant, part)


def _mention(into: Builder, tenant: str, part: IncidentScope) -> None:
    if part.dataset is not None:
        _, node = into.dataset(tenant, part.dataset)
        if part.column is not None:
            node.columns.setdefault(part.column, ColumnFacts())
    if part.job is not None:
        into.job(tenant, part.job)
    if part.run is not None:
        into.run(tenant, part.run)
    if part.query is not None:
        into.query(tenant, part.query)
    if part.consumer is not None:
        into.consumer(tenant, part.consumer)
