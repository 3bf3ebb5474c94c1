"""Run facets of a streaming run's events, each JSON of its own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from headwater_producers.spark.plan import SourceKind
from headwater_producers.spark.streaming.gaps import GAPS_FACET
from headwater_producers.spark.streaming.gaps import facet_of as gaps_facet
from headwater_producers.spark.streaming.operators import STATE_FACET
from headwater_schemas.facets import EVENT_TIME_FACET, SINK_FACET

if TYPE_CHECKING:
    from headwater_producers.spark.plan import PlanDescription
    from headwater_producers.spark.streaming.run import StreamRun

_MAX_GAPS: Final = 100


def run_facets(run: StreamRun, producer: str) -> dict[str, str]:
    """The facets of each change of a run's state: event time, state, and the last gaps met."""
    facets = {}
    if run.event_time:
        facets[EVENT_TIME_FACET] = json.dumps(run.event_time, sort_keys=True)
    if run.state:
        facets[STATE_FACET] = run.state.facet(producer)
    if run.gaps:
        facets[GAPS_FACET] = gaps_facet(run.gaps[-_MAX_GAPS:], producer)
    return facets


def sink_facet(description: PlanDescription | None, sink: str | None, producer: str) -> dict[str, str]:
    """Whether the query writes by itself: of one that doesn't, no micro-batch is known to have written something."""
    link = description.streaming if description is not None else None
    if link is None or sink is None:
        return {}
    about = {"_producer": producer, "name": sink, "callback": link.sink_kind is SourceKind.CALLBACK}
    return {SINK_FACET: json.dumps(about, sort_keys=True)}
