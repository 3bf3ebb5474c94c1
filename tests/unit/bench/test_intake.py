"""What `bench intake` sends: the same runs twice, in documents that OpenLineage's schemas accept; and its figures."""

from __future__ import annotations

import json

import pytest

from headwater_benchmarks.intake.as_openlineage import openlineage
from headwater_benchmarks.intake.documents import material, uuid7
from headwater_benchmarks.intake.figures import BATCHES, KAFKA, ONE, OWN, RENTGEN, compared, goals, measured
from headwater_benchmarks.intake.ways import Turn
from headwater_benchmarks.workload.company import EPOCH
from headwater_benchmarks.workload.mixture import Mixture
from headwater_consumers.intake.receiving import Refusal, receive

pytestmark = pytest.mark.nightly

MADE = material(40, seed=7)


def test_one_seed_is_one_material() -> None:
    assert material(40, seed=7) == MADE
    assert material(40, seed=8) != MADE


def test_what_comes_after_others_goes_on_where_they_end() -> None:
    before, after = material(25, seed=7), material(15, seed=7, after=25)
    assert [*before.documents, *after.documents] == MADE.documents
    assert [*before.own, *after.own] == MADE.own


def test_documents_and_headwaters_own_events_are_of_the_same_runs() -> None:
    own = {event.run.run_id for event in MADE.own if event.run is not None}
    assert {document.run for document in MADE.documents} == own
    of_runs = [event for event in MADE.own if event.run_event is not None]
    assert len(of_runs) == len(MADE.documents) == 40
    ids = [event.event_id for event in of_runs]
    assert ids == [document.run_event for document in MADE.documents]


def test_a_document_becomes_as_many_events_as_it_is_noted_to() -> None:
    for document in MADE.documents:
        received = receive(document.data, tenant="default")
        assert not isinstance(received, Refusal)
        events = received.events
        assert (len(events), events[0].event_id) == (document.events, document.run_event)
    assert MADE.events == sum(document.events for document in MADE.documents)


def test_the_end_of_a_run_has_column_lineage_and_its_start_has_schemas_alone() -> None:
    for document in map(json.loads, (each.data for each in MADE.documents)):
        facets = set(document["outputs"][0]["facets"])
        assert facets == ({"schema"} if document["eventType"] == "START" else {"schema", "columnLineage"})
        assert set(document["inputs"][0]["facets"]) == {"schema"}


def test_run_ids_are_of_version_7_with_the_time_of_the_start() -> None:
    made = uuid7(EPOCH, "ffffffff-ffff-4fff-bfff-ffffffffffff")
    assert made[14] == "7"
    assert int(made.replace("-", "")[:12], 16) == EPOCH.timestamp() * 1_000


def turns(*seconds: float, processor: float = 1.0) -> list[Turn]:
    return [Turn(100, seconds=each, processor={"server": processor, "consumer": 2.0}) for each in seconds]


def test_figures_are_of_events_and_ratios_of_one_round() -> None:
    found = measured(ONE, turns(1.0, 2.0, 4.0), {"headwater": turns(0.5, 1.0, 2.0)})
    assert found["events_per_second"] == {"median": 50.0, "minimum": 25.0, "maximum": 100.0}
    assert found["processor_ms_per_event"]["server"]["median"] == 10.0
    assert found["times_headwater"]["ratio"]["median"] == 0.5
    assert "accepted_per_second" not in found
    beside = compared(turns(1.0, 2.0), turns(5.0, 12.0, processor=7.0))
    assert (beside["seconds"]["ratio"]["median"], beside["processor"]["ratio"]["median"]) == (5.5, 3.0)
    other = [Turn(100, seconds=1.0, processor={"consumer": 1.0})]
    assert compared(turns(1.0), other)["processor"] is None, "not of the same processes"


@pytest.mark.parametrize("absent", [True, False])
def test_goals_are_of_the_server_and_of_the_peer(absent: bool) -> None:
    own = turns(1.0, 2.0)
    found = [measured(name, own, {}) for name in (ONE, BATCHES, OWN, KAFKA)]
    peer = {"absent": "not installed"} if absent else {"times_headwater": compared(own, turns(6.0, 12.0))}
    values = [goal.value for goal in goals([*found, {"name": RENTGEN, **peer}])]
    assert values == [10.0, 10.0, None if absent else 6.0]


def test_openlineage_says_what_the_event_says() -> None:
    of_kind = {event.kind: event for event in reversed(list(Mixture(1).take(300)))}
    interval = openlineage(of_kind["INTERVAL"])
    assert [part["partition"] for part in interval["inputs"][0]["inputFacets"]["offsets"]["ranges"]] == list(range(8))
    assert interval["run"]["facets"]["microBatch"]["batches"][0]["batchId"] == 0
    run_event = openlineage(of_kind["RUN"])
    assert (len(run_event["inputs"]), len(run_event["outputs"])) == (3, 2)
    plan = openlineage(of_kind["PLAN"])
    assert all(len(output["facets"]["columnLineage"]["fields"]) == 20 for output in plan["outputs"])
    assert len(openlineage(of_kind["DATASET"])["dataset"]["facets"]["schema"]["fields"]) == 20
    assert openlineage(of_kind["JOB"])["job"]["facets"]["ownership"]["owners"]
