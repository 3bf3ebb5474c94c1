"""Outputs of a run that failed: those of which nothing was committed aren't written by its query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater_graph import keys
from headwater_graph.facts.model import RelType
from headwater_graph.fold import fold
from headwater_schemas.events import (
    DatasetUse,
    LineageEvent,
    Position,
    PublicationState,
    RunEvent,
    RunEventType,
    TableSnapshot,
    build,
)
from support.events import AIRLINES, ENRICHED, JOB, PRODUCER, QUERY_ID, RUN, TIME

if TYPE_CHECKING:
    import pytest

COMMITTED = DatasetUse(
    dataset=ENRICHED, position=Position(table_snapshot=TableSnapshot(format="delta", snapshot_id="1"))
)
WITHOUT_A_WORD = DatasetUse(dataset=AIRLINES)


def written(*outputs: DatasetUse, **fields: Any) -> set[str]:
    """Names of the datasets that the query of a run writes."""
    body = RunEvent(outputs=outputs, query_id=QUERY_ID, **{"type": RunEventType.FAIL, **fields})
    event: LineageEvent = build.lineage_event(body, job=JOB, run=RUN, producer=PRODUCER, event_time=TIME)
    names = {keys.dataset_key("default", each.namespace, each.name): each.name for each in (AIRLINES, ENRICHED)}
    query = keys.query_key("default", QUERY_ID)
    links = fold([event]).links
    return {names[link.end] for link in links if link.type is RelType.WRITES and link.start == query}


def test_one_of_two_outputs_was_committed() -> None:
    assert written(WITHOUT_A_WORD, COMMITTED) == {ENRICHED.name}
    assert written(COMMITTED, WITHOUT_A_WORD) == {ENRICHED.name}


PUBLISHED_OUTPUTS: list[tuple[PublicationState | None, set[str]]] = [
    (PublicationState.PUBLISHED, {AIRLINES.name}),
    (PublicationState.PARTIAL, {AIRLINES.name}),
    (PublicationState.UNPUBLISHED, set()),
    (PublicationState.UNKNOWN, set()),
    (None, set()),
]


def test_what_a_run_that_failed_published_was_committed(subtests: pytest.Subtests) -> None:
    for publication, expected in PUBLISHED_OUTPUTS:
        with subtests.test(publication=publication):
            assert written(WITHOUT_A_WORD, publication=publication) == expected


def test_a_run_that_did_not_fail_wrote_its_outputs(subtests: pytest.Subtests) -> None:
    for type_ in (RunEventType.RUNNING, RunEventType.COMPLETE, RunEventType.ABORT):
        with subtests.test(type_=type_):
            assert written(WITHOUT_A_WORD, type=type_) == {AIRLINES.name}
