"""Incidents: entries are added to the stored log, the latest REACHED is kept, and the state is derived again.

Every writer of an incident locks its node first, so the log doesn't change during the transaction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from headwater_graph.facts.delta import GraphDelta
from headwater_graph.facts.incidents import IncidentEntry, IncidentFacts
from headwater_graph.facts.model import Label
from headwater_graph.incidents import ENTRIES, REACHED, concerned, incident_properties, incident_state, reached_links
from headwater_graph.write.bolt import to_bolt
from headwater_graph.write.transaction import WriteTransaction

_LISTS = {
    Label.DATASET: "datasets",
    Label.COLUMN: "columns",
    Label.JOB: "jobs",
    Label.RUN: "runs",
    Label.QUERY: "queries",
    Label.CONSUMER: "consumers",
}


@dataclass(slots=True)
class IncidentChanges:
    """Changes of incidents in one transaction.

    Attributes:
        updates: properties to be set, by key of the incident.
        begin: by label, nodes that an incident concerns from now on: rows of the incident's key and the node's key.
        end: keys of the nodes that an incident no longer concerns, by key of the incident.
        reached: datasets that an incident reached, as rows of both keys and the relationship's properties.
        unreached: keys of the datasets that the latest REACHED no longer names, by key of the incident.
    """

    updates: dict[str, dict[str, Any]] = field(default_factory=dict)
    begin: dict[Label, list[dict[str, str]]] = field(default_factory=lambda: defaultdict(list))
    end: dict[str, list[str]] = field(default_factory=dict)
    reached: list[dict[str, Any]] = field(default_factory=list)
    unreached: dict[str, list[str]] = field(default_factory=dict)


def lock_incidents(tx: WriteTransaction, delta: GraphDelta) -> IncidentChanges:
    """Create or lock the delta's incidents and find their changes."""
    changes = IncidentChanges()
    rows = [dict(incident.identity) for _, incident in sorted(delta.incidents.items())]
    for stored in tx.find_rows("incidents", rows):
        _change(changes, stored, delta.incidents[stored["key"]])
    return changes


def _change(changes: IncidentChanges, stored: Mapping[str, Any], incoming: IncidentFacts) -> None:
    key, tenant = str(incoming.identity["key"]), str(incoming.identity["tenant"])
    facts = IncidentFacts(incoming.identity)
    for text in stored[ENTRIES] or ():
        facts.add(IncidentEntry.of(text))
    if (text := stored[REACHED]) is not None:
        facts.reach(IncidentEntry.of(text))
    old_log, old_reached = facts.log, facts.reached
    facts.join(incoming)
    log, reached = facts.log, facts.reached
    if (log, reached) == (old_log, old_reached):
        return
    before, state = incident_state(old_log, old_reached), incident_state(log, reached)
    changes.updates[key] = to_bolt(incident_properties(log, state, reached))
    if reached != old_reached:
        links = reached_links(tenant, state.reached or ())
        for end, properties in sorted(links.items()):
            changes.reached.append({"start": key, "end": end, "properties": to_bolt(properties)})
        if gone := sorted(reached_links(tenant, before.reached or ()).keys() - links.keys()):
            changes.unreached[key] = gone
    old = concerned(tenant, before.scope.values())
    new = concerned(tenant, state.scope.values())
    for end in sorted(new.keys() - old.keys()):
        changes.begin[new[end]].append({"start": key, "end": end})
    if gone := sorted(old.keys() - new.keys()):
        changes.end[key] = gone


def write_incidents(tx: WriteTransaction, changes: IncidentChanges) -> None:
    """Write the changes. All nodes that an incident concerns or reached exist already: the events name them."""
    tx.send_rows(
        "update_incidents", [{"key": key, "properties": values} for key, values in sorted(changes.updates.items())]
    )
    tx.send_rows("concerned_before", [{"key": key, "ends": ends} for key, ends in sorted(changes.end.items())])
    tx.send_rows("reached_before", [{"key": key, "ends": ends} for key, ends in sorted(changes.unreached.items())])
    tx.send_rows("reached", changes.reached)
    if changes.begin:
        tx.send("concerns", **{name: changes.begin.get(label, []) for label, name in _LISTS.items()})
