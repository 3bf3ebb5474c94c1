"""Contract of graphs that the checkpoint relies on."""

from __future__ import annotations

from functools import partial

import msgspec
import pytest

from headwater_consumers.materializer.errors import EventRefusedError, GraphUnavailableError
from support.materializer.events import interval, run_start
from support.materializer.worlds import World


@pytest.fixture(autouse=True)
def _empty(request: pytest.FixtureRequest) -> None:
    if "real" in request.node.callspec.id:
        request.getfixturevalue("clean_database")


def test_preparing_twice_is_preparing_once(world: World) -> None:
    graph = world.graph()
    graph.prepare()
    graph.prepare()


def test_applying_again_changes_nothing(world: World) -> None:
    graph = world.graph()
    graph.prepare()
    folded = world.fold([run_start(1), run_start(2), interval(0), interval(1)])
    assert graph.apply(folded).nodes_created > 0
    again = graph.apply(folded)
    assert (again.nodes_created, again.relationships_created) == (0, 0)


def test_what_is_refused_leaves_nothing_of_its_transaction(world: World) -> None:
    graph = world.graph()
    graph.prepare()
    with pytest.raises(EventRefusedError):
        graph.apply(world.fold([run_start(1), world.refused(), run_start(2)]))
    assert not world.has(run_start(1))
    assert not world.has(run_start(2))
    assert graph.apply(world.fold([run_start(1)])).nodes_created > 0, "and the graph can go on"
    assert world.has(run_start(1))


def test_a_graph_that_is_away_raises_what_is_tried_again(world: World) -> None:
    graph = world.away()
    for call in (
        partial(graph.report, []),
        graph.probe,
        graph.prepare,
        lambda: graph.apply(world.fold([run_start(1)])),
    ):
        with pytest.raises(GraphUnavailableError):
            call()
    assert not world.has(run_start(1))
    graph.close()
    graph.close()


def test_what_came_before_and_what_is_reported_otherwise_is_counted(world: World) -> None:
    graph = world.graph()
    graph.prepare()
    otherwise = msgspec.structs.replace(run_start(1), producer="https://headwater/another")
    summary = graph.apply(world.fold([run_start(1), run_start(1), run_start(1), otherwise]))
    assert (summary.duplicates, summary.stale) == (2, 1)
    assert summary.nodes_created > 0
    assert graph.apply(world.fold([run_start(2)])).nodes_created > 0
    none = graph.apply(world.fold([]))
    assert (none.nodes_created, none.relationships_created, none.duplicates, none.stale) == (0, 0, 0, 0)


def test_a_well_database_answers_and_takes_a_probe(world: World) -> None:
    graph = world.graph()
    graph.report([])
    graph.probe()
    graph.probe()
