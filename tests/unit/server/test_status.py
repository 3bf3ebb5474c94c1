"""Status while Neo4j doesn't answer."""

from __future__ import annotations

import pytest

from headwater_analysis.errors import AnalysisError, GraphRefusedError, GraphUnreachableError, TimeLimitError
from support.api import client_of, fake_graph


@pytest.mark.parametrize("error", [GraphUnreachableError("away"), TimeLimitError(1.0)])
def test_a_neo4j_that_is_away_is_a_status(error: AnalysisError) -> None:
    with client_of(fake_graph(raises=error)) as client:
        answer = client.get("/api/v1/status")
    assert answer.status_code == 200
    found = answer.json()
    assert found.pop("graph_reachable") is False
    assert set(found.values()) == {None}
    assert set(found) >= {
        "kafka_reachable",
        "prepared",
        "consumer",
        "events",
        "behind",
        "last_event",
        "datasets",
        "jobs",
    }


def test_a_refused_account_is_a_problem() -> None:
    with client_of(fake_graph(raises=GraphRefusedError("no", setting="X"))) as client:
        assert client.get("/api/v1/status").json()["type"] == "urn:headwater:graph-refused"
