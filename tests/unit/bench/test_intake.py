"""Documents of `bench intake`: runs that OpenLineage's schemas accept; and its figures."""

from __future__ import annotations

import json

import pytest

from headwater_benchmarks.intake.benchmark import (
    HTTP,
    KAFKA,
    RENTGEN,
    IntakeTurn,
    goals,
    times_headwater,
    way_figures,
)
from headwater_benchmarks.intake.documents import documents, uuid7
from headwater_benchmarks.workload import EPOCH
from headwater_openlineage.intake.receiving import Refusal, receive

pytestmark = pytest.mark.nightly

MADE = documents(40, seed=7)


def test_what_comes_after_others_goes_on_where_they_end() -> None:
    assert [*documents(25, seed=7), *documents(15, seed=7, after=25)] == MADE


def test_a_document_becomes_as_many_events_as_it_is_noted_to() -> None:
    for document in MADE:
        received = receive(document.data, tenant="default")
        assert not isinstance(received, Refusal)
        assert len(received.events) == document.events > 1


def test_the_end_of_a_run_has_column_lineage_and_its_start_has_schemas_alone() -> None:
    for document in map(json.loads, (each.data for each in MADE)):
        assert (len(document["inputs"]), len(document["outputs"])) == (3, 2)
        facets = set(document["outputs"][0]["facets"])
        assert facets == ({"schema"} if document["eventType"] == "START" else {"schema", "columnLineage"})
        assert set(document["inputs"][0]["facets"]) == {"schema"}
        assert len(document["inputs"][0]["facets"]["schema"]["fields"]) == 20
        if document["eventType"] != "START":
            assert all(len(output["facets"]["columnLineage"]["fields"]) == 20 for output in document["outputs"])


def test_run_ids_are_of_version_7_with_the_time_of_the_start() -> None:
    made = uuid7(EPOCH, "ffffffff-ffff-4fff-bfff-ffffffffffff")
    assert made[14] == "7"
    assert int(made.replace("-", "")[:12], 16) == EPOCH.timestamp() * 1_000
    starts = [each for each in map(json.loads, (each.data for each in MADE)) if each["eventType"] == "START"]
    assert {each["run"]["runId"] for each in starts} == {each.run for each in MADE}


def turns(*seconds: float, processor: float = 1.0) -> list[IntakeTurn]:
    return [IntakeTurn(100, seconds=each, processor={"server": processor, "consumer": 2.0}) for each in seconds]


def test_figures_are_of_events_and_ratios_of_one_round() -> None:
    found = way_figures(HTTP, turns(1.0, 2.0, 4.0))
    assert found["events_per_second"] == {"median": 50.0, "minimum": 25.0, "maximum": 100.0}
    assert found["processor_ms_per_event"]["server"]["median"] == 10.0
    assert "accepted_per_second" not in found
    beside = times_headwater(turns(1.0, 2.0), turns(5.0, 12.0, processor=7.0))
    assert (beside["seconds"]["median"], beside["processor"]["median"]) == (5.5, 3.0)


@pytest.mark.parametrize("absent", [True, False])
def test_goals_are_of_the_server_and_of_the_peer(absent: bool) -> None:
    own = turns(1.0, 2.0)
    peer = {"absent": "not installed"} if absent else {"times_headwater": times_headwater(own, turns(6.0, 12.0))}
    measurements = [way_figures(HTTP, own), way_figures(KAFKA, own), {"name": RENTGEN, **peer}]
    for batch, wished in ((1, 1.0), (100, 0.3)):
        server, times = goals(measurements, batch=batch)
        assert (server.value, server.goal) == (10.0, wished)
        assert times.value == (None if absent else 6.0)
