"""Whatever passes `reject` can be stored, and reads back as the oracle says: any text, any time, any integer."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headwater_graph.dump import dump
from headwater_graph.fold import fold, reject
from headwater_graph.oracle import oracle
from headwater_graph.write import GraphWriter
from headwater_schemas import identity
from headwater_schemas.events import (
    DatasetEvent,
    DatasetRef,
    DatasetUse,
    JobRef,
    LineageEvent,
    RunEvent,
    RunEventType,
    RunRef,
    SchemaDefinition,
    SchemaField,
    Tag,
    build,
)
from support.event_strategies import events
from support.events import TIME
from support.graph.emptying import delete_nodes

if TYPE_CHECKING:
    from neo4j import Driver


pytestmark = pytest.mark.stack


def _with_id(event: LineageEvent) -> LineageEvent:
    try:
        return msgspec.structs.replace(event, event_id=identity.event_id(event))
    except ValueError:
        return event  # it lacks what its id is made of, so it will be rejected


@pytest.mark.timeout(300)
@settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.lists(events().map(_with_id).filter(lambda event: reject(event) is None), min_size=1, max_size=4))
def test_any_event(graph: Driver, writer: GraphWriter, reported: list[LineageEvent]) -> None:
    with graph.session() as session:
        session.run("MATCH (n) WHERE NOT n:HeadwaterGraph DETACH DELETE n").consume()
    for event in reported:
        writer.apply(fold([event]))
    writer.apply(fold(reported[::-1]))
    assert list(dump(graph, internal=True)) == list(oracle(fold(reported), internal=True))


def test_parts_of_a_second_before_1970(subtests: pytest.Subtests, graph: Driver, writer: GraphWriter) -> None:
    """Microseconds are read back: Neo4j's `epochSeconds` rounds milliseconds before 1970 towards zero."""
    for fraction in (0, 1, 999, 1_000, 999_999):
        with subtests.test(fraction=fraction):
            delete_nodes(graph)
            writer.ensure_schema()
            time = datetime(1969, 1, 1, 0, 0, 0, fraction, tzinfo=UTC)
            dataset = DatasetRef("ns", "a")
            run = RunEvent(
                type=RunEventType.COMPLETE,
                outputs=(DatasetUse(dataset=dataset),),
                plan_digest="0",
                started_at=time,
                ended_at=time,
            )
            reported = [
                build.lineage_event(DatasetEvent(dataset=dataset), producer="p", event_time=TIME),
                build.lineage_event(run, job=JobRef("ns", "j"), run=RunRef("r"), producer="p", event_time=time),
            ]
            for event in reported:
                writer.apply(fold([event]))
            writer.apply(fold(reported[::-1]))
            assert list(dump(graph, internal=True)) == list(oracle(fold(reported), internal=True))


def test_names_longer_than_an_index_takes(graph: Driver, writer: GraphWriter) -> None:
    name = "n" * 40_000
    dataset = DatasetRef(name, name)
    body = DatasetEvent(dataset=dataset, schema=SchemaDefinition((SchemaField(path=name),)), tags=(Tag(key=name),))
    run = RunEvent(type=RunEventType.COMPLETE, inputs=(DatasetUse(dataset=dataset),), query_id=name)
    reported = [
        build.lineage_event(body, producer=name, event_time=TIME, tenant=name),
        build.lineage_event(run, job=JobRef(name, name), run=RunRef(name), producer=name, event_time=TIME, tenant=name),
    ]
    writer.apply(fold(reported))
    assert list(dump(graph, internal=True)) == list(oracle(fold(reported), internal=True))
