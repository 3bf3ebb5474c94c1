from __future__ import annotations

import msgspec

from headwater_consumers.facts.delta import GraphDelta
from headwater_consumers.materializer.fold import fold
from headwater_schemas.events import IntervalEvent
from support.events import LATER, full_interval_event, full_run_event


def test_equal_events_are_duplicates() -> None:
    delta = fold([full_run_event(), full_run_event(), full_interval_event()])
    assert (delta.events, delta.duplicates, delta.stale) == (3, 1, 0)


def test_another_report_of_the_same_id_is_stale_and_still_joined() -> None:
    first = full_interval_event()
    body = first.interval_event
    assert isinstance(body, IntervalEvent)
    again = msgspec.structs.replace(
        first, event_time=LATER, interval_event=msgspec.structs.replace(body, checkpoint_location="/elsewhere")
    )
    delta = fold([first, again])
    assert (delta.duplicates, delta.stale) == (0, 1)
    (query,) = delta.queries.values()
    assert query.registers["checkpoint_location"][1] == "/elsewhere"


def test_counts_add_up_when_joined() -> None:
    delta = fold([full_run_event()]).join(fold([full_run_event(), full_run_event()]))
    assert (delta.events, delta.duplicates) == (3, 1)


def test_no_event_is_counted_before_one_was_folded() -> None:
    empty = fold([])
    assert (empty.events, empty.duplicates, empty.stale) == (0, 0, 0)
    assert (GraphDelta().events, GraphDelta().duplicates, GraphDelta().stale) == (0, 0, 0)
