"""What the checkpoint relies on in a graph, whichever it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.materializer.events import interval, run_start

if TYPE_CHECKING:
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


def test_a_well_database_answers_and_takes_a_probe(world: World) -> None:
    graph = world.graph()
    graph.ping()
    graph.probe()
    graph.probe()
