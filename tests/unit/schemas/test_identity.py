"""Identity: ids that are written down here, so that no refactoring changes what is already in somebody's graph."""

from __future__ import annotations

import hashlib
import random
import uuid
from datetime import UTC, datetime, timedelta, timezone

import msgspec
import pytest

from headwater_schemas import identity
from headwater_schemas.events import (
    ColumnEdge,
    ColumnLineage,
    DatasetRef,
    DatasetUse,
    DeclarationEvent,
    EventKind,
    IncidentAction,
    IncidentClock,
    IncidentEvent,
    IncidentScope,
    JobRef,
    KafkaRanges,
    OffsetRange,
    Position,
    ReachedDataset,
)
from support.events import FULL_EVENTS, LINEAGE, TIME

IDS = {
    "run": "7b6103c3-e35b-5ee6-a6c1-9497c14467d7",
    "interval": "a87bee58-dbbb-5bad-91de-776e3b5bec3f",
    "plan": "49ef194d-6c9e-524b-8421-5702096c2a9d",
    "dataset": "5a265cac-64bd-5b7f-abac-db356cf9795c",
    "job": "8f692609-a3bc-5195-a560-55d88f43c8bd",
    "retention": "a5a2e96c-2fa2-5d26-8507-1d9741a5902e",
    "declaration": "cb414699-039d-5e09-be46-32d6376b0762",
    "declaration_of_a_job": "bba3550c-fef4-5e6e-83b4-17a7b9e1803b",
    "declaration_of_a_consumer": "2449990a-a9fd-53b0-8abb-f17d388faf14",
    "declaration_set": "d241528f-7b59-59a8-86e9-b8752ce50b0f",
    "incident": "734bfa6a-c761-5c9f-8e6a-38a8ebaa9294",
    "incident_of_an_opening": "1fbb147a-e7c3-5dcf-9557-ede0fee5c32e",
    "incident_of_an_assignment": "59752a26-bcf6-5a7f-89dc-68532f071e1f",
    "incident_of_a_merge": "8dc0741e-a6a4-54e8-8b60-d50fef430cee",
    "incident_of_a_resolution": "39c44266-48a1-5080-919d-085c5e63c3ea",
    "incident_of_a_reach": "939a1cf8-d661-59aa-954b-40c7c8d7b313",
    "incident_of_a_notification": "15649978-880b-51fd-9806-a65822239dc5",
}
KEYS = {
    "run": '["default","flights","enrich"]',
    "interval": '["default","flights","enrich"]',
    "plan": '["default","flights","enrich"]',
    "dataset": '["acme","kafka://broker-1:9092,broker-2:9092","flights.enriched"]',
    "job": '["default","flights","enrich"]',
    "retention": '["default","flights","enrich"]',
    "declaration": '["acme","flights"]',
    "declaration_of_a_job": '["default","flights"]',
    "declaration_of_a_consumer": '["default","flights"]',
    "declaration_set": '["default","flights"]',
    "incident": '["acme","delays-2013-01-01"]',
    "incident_of_an_opening": '["default","delays-2013-01-01"]',
    "incident_of_an_assignment": '["default","delays-2013-01-01"]',
    "incident_of_a_merge": '["default","delays-2013-01-01"]',
    "incident_of_a_resolution": '["default","delays-2013-01-01"]',
    "incident_of_a_reach": '["default","delays-2013-01-01"]',
    "incident_of_a_notification": '["default","delays-2013-01-01"]',
}


def test_ids_and_record_keys_are_what_they_were(subtests: pytest.Subtests) -> None:
    for kind in FULL_EVENTS:
        with subtests.test(kind=kind):
            event = FULL_EVENTS[kind]()
            assert event.kind == EventKind(kind.upper().partition("_OF_")[0])
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


def test_an_id_needs_all_of_its_tuple(subtests: pytest.Subtests) -> None:
    cases = [
        ("run", "run"),
        ("run", "run_event"),
        ("interval", "interval_event"),
        ("plan", "job"),
        ("dataset", "dataset_event"),
        ("job", "job_event"),
        ("job", "job"),
        ("retention", "retention_event"),
        ("declaration", "declaration_event"),
        ("declaration_set", "declaration_set_event"),
        ("incident", "incident_event"),
    ]
    for kind, missing in cases:
        with subtests.test(kind=kind, missing=missing):
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


def test_microseconds_come_back_as_the_same_time() -> None:
    assert identity.from_micros(identity.micros(TIME)) == TIME
    assert identity.from_micros(-1) == datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)


def test_half_a_character_has_bytes_too() -> None:
    """A file system's names may hold what no UTF-8 does; a plan of them still has a digest."""
    assert identity.canonical(("\ud800",)) == b"s3:\xed\xa0\x80"
    run = FULL_EVENTS["run"]()
    event = msgspec.structs.replace(run, job=JobRef("f", "\ud800"))
    assert identity.record_key(event) == b'["default","f","\xed\xa0\x80"]'


def test_a_record_key_is_utf_8_and_no_escapes() -> None:
    event = msgspec.structs.replace(FULL_EVENTS["run"](), job=JobRef("f", "é"))
    assert identity.record_key(event) == '["default","f","é"]'.encode()


def test_a_declaration_s_digest_is_of_its_content_in_utf_8() -> None:
    body = DeclarationEvent(set="flüge", description="\ud800")
    content = '{"description":"\ud800","set":"flüge"}'.encode("utf-8", "surrogatepass")
    assert identity.declaration_digest(body) == hashlib.blake2b(content, digest_size=16).hexdigest()
    assert identity.declaration_digest(body) == "03af2d60466630c55052465d0521b9c6"


def test_content_of_an_action_is_of_its_parts_as_sets_and_its_times_in_utc() -> None:
    local = TIME.replace(tzinfo=timezone(timedelta(hours=1)))
    one = IncidentScope(dataset=DatasetRef("k", "t"), files=("b", "a", "b"))
    other = IncidentScope(run="é", since=local, clock=IncidentClock.EVENT)
    body = IncidentEvent(incident="i", action=IncidentAction.REPAIRED, by="jo", scope=(other, one, other))
    content = (
        '{"action":"REPAIRED","by":"jo","incident":"i","scope":['
        '{"clock":"EVENT","run":"é","since":"2013-01-01T04:15:00.123456Z"},'
        '{"dataset":{"name":"t","namespace":"k"},"files":["a","b"]}]}'
    )
    assert identity.incident_content(body) == content
    assert identity.scope_text(one) == '{"dataset":{"name":"t","namespace":"k"},"files":["a","b"]}'
    again = msgspec.json.decode(content, type=IncidentEvent)
    assert identity.incident_content(again) == content


def test_an_action_s_id_is_of_its_time_and_content() -> None:
    event = FULL_EVENTS["incident"]()
    body = event.incident_event
    assert body is not None
    others = [
        msgspec.structs.replace(event, event_time=event.event_time + timedelta(microseconds=1)),
        msgspec.structs.replace(event, tenant="other"),
        *(
            msgspec.structs.replace(event, incident_event=msgspec.structs.replace(body, **{name: "another"}))
            for name in ("incident", "by", "reason", "title", "description", "cause")
        ),
        msgspec.structs.replace(event, incident_event=msgspec.structs.replace(body, removed=None)),
    ]
    assert len({event.event_id, *map(identity.event_id, others)}) == len(others) + 1
    assert body.scope is not None
    turned = msgspec.structs.replace(body, scope=body.scope[::-1])
    same = msgspec.structs.replace(event, incident_event=turned, producer="another")
    assert identity.event_id(same) == event.event_id


def test_an_answer_s_id_is_of_all_that_was_reached() -> None:
    event = FULL_EVENTS["incident_of_a_reach"]()
    body = event.incident_event
    assert body is not None
    assert body.reached is not None
    [dataset] = body.reached
    others = [
        msgspec.structs.replace(body, reached=(msgspec.structs.replace(dataset, **{name: value}),))
        for name, value in {"depth": 2, "since": None, "parts": dataset.parts[1:], "digest": "ab" * 32}.items()
    ]
    others += [msgspec.structs.replace(body, complete=True), msgspec.structs.replace(body, reached=())]
    ids = {identity.event_id(msgspec.structs.replace(event, incident_event=other)) for other in others}
    assert len({event.event_id, *ids}) == len(others) + 1


def test_what_was_reached_is_read_back_from_its_json() -> None:
    body = FULL_EVENTS["incident_of_a_reach"]().incident_event
    assert body is not None
    assert body.reached is not None
    text = identity.reached_text(body.reached)
    assert msgspec.json.decode(text, type=tuple[ReachedDataset, ...]) == body.reached
    assert identity.reached_text(()) == "[]"
    cleared = msgspec.structs.replace(body.reached[0], since=None, cleared=True, parts=(), part_count=0)
    assert identity.reached_text((cleared,)) == (
        '[{"certainty":"UPPER_BOUND","cleared":true,"dataset":{"name":"flights.enriched",'
        '"namespace":"kafka://broker-1:9092,broker-2:9092"},"depth":1,"digest":"' + "0123456789abcdef" * 4 + '",'
        '"part_count":0,"parts":[]}]'
    )


def test_a_job_s_key_is_that_of_its_events() -> None:
    run = FULL_EVENTS["run"]()
    event = msgspec.structs.replace(run, tenant="t", job=JobRef("f", "é"))
    assert identity.job_record_key("t", JobRef("f", "é")) == '["t","f","é"]'.encode() == identity.record_key(event)


def test_digest_of_a_file_set_is_of_lines_as_sha256sum_has_it() -> None:
    r"""`printf 'a/1.parquet\nb/é.parquet\n' | sha256sum`."""
    assert identity.manifest_digest(["a/1.parquet", "b/é.parquet"]) == (
        "a9e21602b5a04a45652b91d9769f4988e412fa74f305be0ad6209a214362cd1b"
    )
    assert identity.manifest_digest(["\ud800"]) != identity.manifest_digest(["?"])


def test_digest_of_several_sources_is_of_their_ends_in_order() -> None:
    """BLAKE2b, 16 bytes, of `s1:ds1:tn;` and `s1:ks1:ts5:kafkai1:0i1:5`, worked out without this code."""
    read = DatasetUse(dataset=DatasetRef("k", "t"), position=Position(kafka=KafkaRanges("t", (OffsetRange(0, 2, 5),))))
    uses = [read, DatasetUse(dataset=DatasetRef("d", "t"))]
    assert identity.source_end_digest(uses) == "2afb3dc6e1d62ee146dd2595a54df76f"
    assert identity.source_end_digest(uses[::-1]) == "2afb3dc6e1d62ee146dd2595a54df76f"


def test_digest_of_a_column_that_comes_from_nowhere() -> None:
    """Worked out without this code: three counts, the dataset, and a row with a null for each part of the input."""
    lineage = ColumnLineage(
        datasets=(DatasetRef("n", "out"),), edges=(ColumnEdge(output=0, output_field="c"),), complete=True
    )
    assert identity.plan_digest(lineage) == "52a042b01d5ec3780e705582fb5c9928"


def test_an_id_is_a_uuid_5_whatever_its_digest_is() -> None:
    """The variant replaces half of a digit: each of the sixteen is among these."""
    for number in range(300):
        parts = ("t", number)
        expected = uuid.uuid5(identity.EVENT_NAMESPACE, identity.canonical(parts).hex())
        assert identity.identity_id(parts) == str(expected)


def test_edges_are_sorted_field_by_field_with_what_is_missing_first() -> None:
    edges = tuple(
        ColumnEdge(output=0, output_field=name, input=source, input_field=field)
        for name in "ab"
        for source, field in ((None, None), (0, None), (0, "x"), (0, "y"))
    )
    datasets = (DatasetRef("n", "out"),)
    for seed in range(5):
        mixed = random.Random(seed).sample(edges, len(edges))
        assert identity.canonical_lineage(ColumnLineage(datasets=datasets, edges=tuple(mixed))).edges == edges
