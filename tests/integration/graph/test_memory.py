"""Memory after a transaction: its rows are gone, though the driver's results are in cycles."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import pytest

from headwater_benchmarks.workload import Mixture
from headwater_graph.fold import fold
from headwater_graph.write import GraphWriter, prepare_delta

if TYPE_CHECKING:
    from neo4j import Driver


pytestmark = pytest.mark.stack

EVENTS = 400


@pytest.mark.nightly
def test_rows_are_gone_without_the_garbage_collector(graph: Driver, writer: GraphWriter) -> None:
    """A batch's rows are some 30 containers an event; what the driver itself leaves in cycles is no more with more."""
    events = list(Mixture(1).take(2 * EVENTS))
    writer.apply(prepare_delta(fold(events[:EVENTS])))
    gc.collect()
    gc.disable()
    try:
        writer.apply(prepare_delta(fold(events[EVENTS:])))
        left = gc.collect()
    finally:
        gc.enable()
    assert left < 5 * EVENTS
