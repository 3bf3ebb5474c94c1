"""Identity: ids that are written down here, so that no refactoring changes what is already in somebody's graph."""

from __future__ import annotations

from datetime import datetime

import msgspec
import pytest

from headwater_schemas import identity
from headwater_schemas.events import ColumnEdge, ColumnLineage, DatasetRef, EventKind
from support.events import FULL_EVENTS, LINEAGE, TIME

IDS = {
    "run": "7b6103c3-e35b-5ee6-a6c1-9497c14467d7",
    "interval": "a87bee58-dbbb-5bad-91de-776e3b5bec3f",
    "plan": "49ef194d-6c9e-524b-8421-5702096c2a9d",
    "dataset": "5a265cac-64bd-5b7f-abac-db356cf9795c",
    "job": "8f692609-a3bc-5195-a560-55d88f43c8bd",
}
KEYS = {
    "run": '["default","flights","enrich"]',
    "interval": '["default","flights","enrich"]',
    "plan": '["default","flights","enrich"]',
    "dataset": '["acme","kafka://broker-1:9092,broker-2:9092","flights.enriched"]',
    "job": '["default","flights","enrich"]',
}


@pytest.mark.parametrize("kind", FULL_EVENTS)
def test_ids_and_record_keys_are_what_they_were(kind: str) -> None:
    event = FULL_EVENTS[kind]()
    assert event.kind == EventKind(kind.upper())
    assert event.event_id == IDS[kind]
    assert identity.record_key(event).decode() == KEYS[kind]


def test_canonical_bytes_are_what_they_were() -> None:
    assert identity.canonical(("é", None, -7, "")) == b"s2:\xc3\xa9n;i2:-7s0:"
    assert identity.graph_key("default", "s3://b", "x/y") == "cd7affa2fa5de870e39d61d9540bd5d6"
    assert identity.plan_digest(LINEAGE) == "93e015cb1c96a2ddb4427e1af38c540b"
    assert str(identity.EVENT_NAMESPACE) == "e535e319-f638-5457-b596-64009dc0f67b"


def test_a_time_without_zone_is_refused() -> None:
    with pytest.raises(TypeError):
        identity.micros(datetime(2013, 1, 1))  # noqa: DTZ001 - the mistake under test


@pytest.mark.parametrize(
    ("kind", "missing"),
    [
        ("run", "run"),
        ("run", "run_event"),
        ("interval", "interval_event"),
        ("plan", "job"),
        ("dataset", "dataset_event"),
    ],
)
def test_an_id_needs_all_of_its_tuple(kind: str, missing: str) -> None:
    event = msgspec.structs.replace(FULL_EVENTS[kind](), **{missing: None})
    with pytest.raises(ValueError, match=kind.upper()):
        identity.event_id(event)


def test_a_key_needs_a_job_or_a_dataset() -> None:
    with pytest.raises(ValueError, match="neither job nor dataset"):
        identity.record_key(msgspec.structs.replace(FULL_EVENTS["run"](), job=None))


def test_an_edge_to_nowhere_can_not_be_put_in_order() -> None:
    with pytest.raises(IndexError):
        identity.canonical_lineage(ColumnLineage(datasets=(DatasetRef("n", "d"),), edges=(ColumnEdge(output=1),)))


def test_micros_of_the_example() -> None:
    assert identity.micros(TIME) == 1_357_017_300_123_456
