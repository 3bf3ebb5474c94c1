"""Identity: what makes two facts one, in whatever order and by whomever they are reported."""

from __future__ import annotations

import itertools
import uuid
from datetime import timedelta

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater_schemas import identity
from headwater_schemas.events import (
    ColumnLineage,
    DatasetRef,
    DatasetUse,
    IntervalEntry,
    IntervalEvent,
    KafkaRanges,
    LineageEvent,
    OffsetRange,
    Position,
    Provenance,
    Versions,
    build,
)
from headwater_schemas.identity import Part
from support.event_strategies import events, lineages, of_type
from support.events import JOB, LATER, PRODUCER, QUERY_ID, RUN, TIME
from support.examples import examples

PARTS = st.none() | st.integers() | st.text()  # lone surrogates included: a client may send anything
TUPLES = st.lists(PARTS, max_size=4).map(tuple)


@settings(max_examples=examples(500))
@given(TUPLES, TUPLES)
def test_different_tuples_have_different_canonical_bytes(one: tuple[Part, ...], other: tuple[Part, ...]) -> None:
    assert (identity.canonical(one) == identity.canonical(other)) == (_typed(one) == _typed(other))


@given(st.lists(st.sampled_from(["", "a", "s3://b", "/", "x/y", ":", "1:", "s1:a", "n;"]), min_size=2, max_size=4))
def test_moving_a_border_between_parts_changes_the_key(parts: list[str]) -> None:
    joined = "".join(parts)
    keys = {identity.graph_key("t", joined[:cut], joined[cut:]) for cut in range(len(joined) + 1)}
    assert len(keys) == len(joined) + 1


@given(st.text(min_size=1), st.text(min_size=1), TUPLES)
def test_the_same_thing_of_two_tenants_has_two_keys(one: str, other: str, parts: tuple[Part, ...]) -> None:
    assert (identity.graph_key(one, *parts) == identity.graph_key(other, *parts)) == (one == other)


@given(events())
def test_an_id_is_a_uuid_5_that_depends_on_the_event_alone(event: LineageEvent) -> None:
    assert identity.event_id(event) == event.event_id
    assert uuid.UUID(event.event_id).version == 5
    assert identity.event_id(msgspec.structs.replace(event, event_id="anything")) == event.event_id


@given(events(), st.text(min_size=1))
def test_another_tenant_makes_another_event(event: LineageEvent, tenant: str) -> None:
    other = msgspec.structs.replace(event, tenant=tenant)
    assert (identity.event_id(other) == event.event_id) == (tenant == event.tenant)


def interval(uses: tuple[DatasetUse, ...], **differences: object) -> LineageEvent:
    entry = msgspec.structs.replace(IntervalEntry(batch_id=7, inputs=uses), **differences)
    body = IntervalEvent(query_id=QUERY_ID, entries=(entry,), provenance=Provenance.OBSERVED)
    return build.lineage_event(body, job=JOB, run=RUN, producer=PRODUCER, event_time=TIME)


@settings(max_examples=50)
@given(st.lists(of_type(DatasetUse), max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_inputs_and_ranges_does_not_matter(uses: list[DatasetUse], random: object) -> None:
    shuffled = list(uses)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert interval(tuple(uses)).event_id == interval(tuple(shuffled)).event_id
    ranges = [OffsetRange(p, 0, p + 1) for p in range(6)]
    ids = set()
    for order in itertools.islice(itertools.permutations(ranges), 20):
        use = DatasetUse(dataset=DatasetRef("k", "t"), position=Position(kafka=KafkaRanges("t", tuple(order))))
        ids.add(interval((use,)).event_id)
    assert len(ids) == 1


def test_what_a_checkpoint_does_not_know_is_no_part_of_an_intervals_id() -> None:
    def use(start: int, end: int, rows: int | None = None) -> DatasetUse:
        position = Position(kafka=KafkaRanges("t", (OffsetRange(0, start, end),)))
        return DatasetUse(dataset=DatasetRef("k", "t"), position=position, rows=rows)

    observed = interval((use(0, 9, rows=9),), rows_in=9, watermark_before=TIME, plan_digest="d")
    body = IntervalEvent(
        query_id=QUERY_ID,
        entries=(IntervalEntry(batch_id=7, inputs=(use(3, 9),)),),
        versions=Versions(code="x"),
        provenance=Provenance.RECONCILED,
    )
    reconciled = build.lineage_event(body, job=JOB, producer="another", event_time=LATER)
    assert observed.event_id == reconciled.event_id
    assert interval((use(0, 10),)).event_id != observed.event_id, "a rewound checkpoint is another fact"


@given(lineages(), st.randoms(use_true_random=False))
def test_a_plans_digest_does_not_depend_on_the_order_or_repetition_of_edges(
    lineage: ColumnLineage, random: object
) -> None:
    edges = [*lineage.edges, *lineage.edges[:1]]
    random.shuffle(edges)  # type: ignore[attr-defined]
    other = msgspec.structs.replace(lineage, edges=tuple(edges))
    assert identity.plan_digest(other) == identity.plan_digest(lineage)


@given(lineages(), lineages())
def test_canonical_lineages_are_equal_exactly_where_digests_are(one: ColumnLineage, other: ColumnLineage) -> None:
    def bare(lineage: ColumnLineage) -> ColumnLineage:
        # Texts of expressions and reasons are for people, and no part of the digest.
        return msgspec.structs.replace(identity.canonical_lineage(lineage), expressions=(), incomplete_reason=None)

    assert identity.canonical_lineage(identity.canonical_lineage(one)) == identity.canonical_lineage(one)
    assert identity.plan_digest(identity.canonical_lineage(one)) == identity.plan_digest(one)
    assert (identity.plan_digest(one) == identity.plan_digest(other)) == (bare(one) == bare(other))


@given(st.integers(-(10**12), 10**12))
def test_microseconds_are_exact(shift: int) -> None:
    start = TIME + timedelta(microseconds=shift)
    assert identity.micros(start) - identity.micros(TIME) == shift


def _typed(parts: tuple[Part, ...]) -> list[tuple[type, Part]]:
    return [(type(part), part) for part in parts]
