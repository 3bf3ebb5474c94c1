"""Incidents: what is wrong, what it reached, and what is left to repair.

answers         the answers: an incident, the parts of its scope, what it reached
scope           parts of a scope as answers show them
origins         parts of a scope → the bad data that the graph knows of them
repairs         declared repairs, which take parts out of what is reached
reach           what open incidents reached, now
spreading       streaming queries that may still write of bad records
recorded        the reach as an event records it, and the difference to an earlier record
questions       the list of incidents, and one of them
unknown         everything of a reach that isn't known
planned         answer of a repair plan
plan            the plan: steps in order, from the reach of today
plan_order      steps with bad output → groups, each after all that write what it reads
plan_steps      runs and micro-batches to write again
plan_replays    facts for reprocessing of streaming queries
plan_orchestrators  tasks to clear, and declared mappings of partitions
plan_commands   commands and statements, quoted
actions         actions on incidents → events, after a look at the graph
marks           datasets of any answer that open incidents reached
"""

from __future__ import annotations

from headwater_analysis.incidents.answers import (
    Incident,
    IncidentBrief,
    IncidentMark,
    IncidentPage,
    IncidentReach,
    ReachChange,
    ResolvedPart,
    ScopePart,
    Spreading,
)
from headwater_analysis.incidents.questions import incident, incidents

__all__ = [
    "Incident",
    "IncidentBrief",
    "IncidentMark",
    "IncidentPage",
    "IncidentReach",
    "ReachChange",
    "ResolvedPart",
    "ScopePart",
    "Spreading",
    "incident",
    "incidents",
]
