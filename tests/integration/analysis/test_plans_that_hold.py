"""Histories of jobs, derived by hand: what the target is made of, and what breaks it, then and at times before."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from headwater_analysis.diff import Point, diff
from headwater_analysis.impact import Impact, ImpactChange, SchemaChange, Severity, analyze
from headwater_analysis.lineage import Lineage, LineageDirection, LineageQuestion, lineage
from headwater_analysis.reader import Reader
from headwater_graph.keys import dataset_key
from support.analysis.plan_histories import HISTORIES, NAMESPACE, History, at
from support.graph.writing import hold

if TYPE_CHECKING:
    from neo4j import Driver


pytestmark = pytest.mark.stack


@pytest.fixture
def histories(neo4j_driver: Driver) -> Driver:
    """All of them in one graph, in any order."""
    events = [event for history in HISTORIES for event in history.events()]
    random.Random(7).shuffle(events)
    return hold(neo4j_driver, "plans that hold", events, at_once=50)


def key(history: History, name: str) -> str:
    return dataset_key("default", NAMESPACE, history.dataset(name).name)


def upstream(reader: Reader, history: History, hours: float | None = None, column: str | None = "x") -> Lineage:
    as_of = None if hours is None else at(hours)
    name = key(history, "tgt")
    return lineage(
        reader, LineageQuestion(name, LineageDirection.UPSTREAM, column, as_of=as_of, columns=column is None)
    )


def letters(answer: Lineage) -> str:
    return "".join(sorted(item.asset.name[-1] for item in answer.items))


def removed(reader: Reader, history: History, source: str) -> Impact:
    return analyze(reader, ImpactChange(key(history, source), column="v", schema=SchemaChange.REMOVED))


def sources(history: History) -> list[str]:
    return sorted(
        {use.dataset.name[-1] for event in history.events() if event.run_event for use in event.run_event.inputs}
    )


@pytest.mark.nightly
def test_what_the_column_is_made_of(subtests: pytest.Subtests, histories: Driver, reader: Reader) -> None:
    for history in HISTORIES:
        with subtests.test(history.name):
            answer = upstream(reader, history)
            assert letters(answer) == history.upstream
            # Of what was seen something is always reported.
            assert answer.items or answer.notes


@pytest.mark.nightly
def test_what_it_was_made_of_at_times(subtests: pytest.Subtests, histories: Driver, reader: Reader) -> None:
    for history in HISTORIES:
        with subtests.test(history.name):
            assert {hours: letters(upstream(reader, history, hours)) for hours in history.at} == history.at
            # Long after, it is as it is now, but for what is declared.
            now = history.upstream.replace("c", "") if "declared" in history.name else history.upstream
            assert letters(upstream(reader, history, 1_000)) == now


def test_the_mapping_of_columns_says_the_same(subtests: pytest.Subtests, histories: Driver, reader: Reader) -> None:
    for history in HISTORIES:
        with subtests.test(history.name):
            answer = upstream(reader, history, column=None)
            found = {item.asset.name[-1] for item in answer.items if item.columns}
            assert "".join(sorted(found)) == history.upstream


def test_what_breaks_it(subtests: pytest.Subtests, histories: Driver, reader: Reader) -> None:
    for history in HISTORIES:
        with subtests.test(history.name):
            for source in sources(history):
                impact = removed(reader, history, source)
                if source in history.broken:
                    assert impact.severity is Severity.BREAKING, source
                else:
                    assert impact.severity is Severity.NONE, source
                    assert impact.notes, source


@pytest.mark.nightly
def test_the_difference_from_before_everything(subtests: pytest.Subtests, histories: Driver, reader: Reader) -> None:
    for history in HISTORIES:
        with subtests.test(history.name):
            name = key(history, "tgt")
            changes = diff(reader, Point(time=at(0)), Point(), dataset=name)
            found = {change.source.name[-1] for change in changes.edges if change.source is not None}
            assert "".join(sorted(found)) == history.upstream
