"""`world`: each test of this folder runs against the stand-ins and against a real Kafka and Neo4j."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.materializer.worlds import FakeWorld, RealWorld, World


@pytest.fixture(params=["fake", pytest.param("real", marks=pytest.mark.stack)])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    if request.param == "fake":
        yield FakeWorld()
        return
    real = RealWorld(request.getfixturevalue("stack"), request.getfixturevalue("topic_prefix"))
    yield real
    real.close()
