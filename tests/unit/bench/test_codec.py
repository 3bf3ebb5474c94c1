"""`bench codec`: every codec has the same facts, and each codec gives back what it was given."""

from __future__ import annotations

import json

import pytest

from headwater.console import console
from headwater_benchmarks.codec.contestants import HEADWATER, MIXED, OPENLINEAGE, codecs, groups
from headwater_benchmarks.codec.openlineage import openlineage
from headwater_benchmarks.codec.run import Options, run
from headwater_benchmarks.codec.show import view
from headwater_benchmarks.workload.mixture import Mixture
from headwater_schemas.events import EventKind, LineageEvent

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def events() -> dict[str, list[LineageEvent]]:
    return groups(list(Mixture(1).take(300)))


def test_every_kind_is_measured(events: dict[str, list[LineageEvent]]) -> None:
    # A retention is an event a day, and declarations are published when people revise them.
    rare = {EventKind.RETENTION, EventKind.DECLARATION, EventKind.DECLARATION_SET}
    assert set(events) == {MIXED, *(kind.value for kind in EventKind if kind not in rare)}


@pytest.mark.parametrize("place", range(3), ids=[codec.name for codec in codecs()])
def test_what_is_encoded_is_decoded(events: dict[str, list[LineageEvent]], place: int) -> None:
    codec = codecs()[place]
    for event in events[MIXED][:100]:
        value = codec.encode(codec.prepare(event))
        assert codec.encode(codec.decode(value)) == value


def test_openlineage_says_what_the_event_says(events: dict[str, list[LineageEvent]]) -> None:
    interval = openlineage(events["INTERVAL"][0])
    assert [part["partition"] for part in interval["inputs"][0]["inputFacets"]["offsets"]["ranges"]] == list(range(8))
    assert interval["run"]["facets"]["microBatch"]["batches"][0]["batchId"] == 0
    run_event = openlineage(events["RUN"][0])
    assert (len(run_event["inputs"]), len(run_event["outputs"])) == (3, 2)
    plan = openlineage(events["PLAN"][0])
    assert all(len(output["facets"]["columnLineage"]["fields"]) == 20 for output in plan["outputs"])
    assert len(openlineage(events["DATASET"][0])["dataset"]["facets"]["schema"]["fields"]) == 20
    assert openlineage(events["JOB"][0])["job"]["facets"]["ownership"]["owners"]


def test_the_report_has_each_codec_for_each_kind() -> None:
    document = run(Options(events=200, rounds=2, seed=1))
    assert document["measurements"][0]["kind"] == MIXED
    for measurement in document["measurements"]:
        by_name = {each["name"]: each for each in measurement["contestants"]}
        assert len(by_name) == 3
        assert by_name[HEADWATER]["bytes_per_event"] < by_name[OPENLINEAGE]["bytes_per_event"]
        assert all(each["decode_events_per_second"]["minimum"] > 0 for each in by_name.values())
    json.dumps(document)
    out = console.out
    with out.capture() as captured:
        out.print(view(document))
    assert "OpenLineage JSON" in captured.get()
