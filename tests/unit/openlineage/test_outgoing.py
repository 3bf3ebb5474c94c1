"""Events of Headwater's own in standard words, as goldens; micro-batches as one document each, and together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from headwater_openlineage.incoming import events_of
from headwater_openlineage.outgoing import documents_of
from headwater_openlineage.subset import position_of_subset
from headwater_schemas.events import (
    ColumnLineage,
    DatasetRef,
    DatasetUse,
    IntervalEntry,
    IntervalEvent,
    JobRef,
    KafkaRanges,
    LineageEvent,
    OffsetRange,
    Position,
    QualityResult,
    RunEvent,
    RunEventType,
    RunRef,
    build,
)
from support import events as full
from support.openlineage_spec import check_official
from support.run_rules import rewrite, updating

if TYPE_CHECKING:
    import pytest

GOLDENS = Path(__file__).parent / "outgoing"
FULL = {
    "run": full.full_run_event,
    "interval": full.full_interval_event,
    "plan": full.full_plan_event,
    "dataset": full.full_dataset_event,
    "job": full.full_job_event,
}


def plans(_: str) -> ColumnLineage | None:
    plan = full.full_plan_event().plan_event
    return None if plan is None else plan.lineage


def test_an_event_leaves_in_standard_words(subtests: pytest.Subtests) -> None:
    for kind, event in FULL.items():
        with subtests.test(kind):
            documents = documents_of(msgspec.structs.replace(event(), document=None), plans)
            golden = GOLDENS / f"{kind}.json"
            text = json.dumps(documents, indent=1, ensure_ascii=False) + "\n"
            if updating():
                rewrite(golden, text)
            assert text == golden.read_text(encoding="utf-8")
            for document in documents:
                check_official(document)


def micro_batch(number: int, *ranges: tuple[int, int, int], rows: int | None = 10) -> IntervalEntry:
    position = Position(kafka=KafkaRanges("t", tuple(OffsetRange(*part) for part in ranges)))
    return IntervalEntry(batch_id=number, inputs=(DatasetUse(dataset=TOPIC, position=position, rows=rows),))


TOPIC = DatasetRef("kafka://a:9092", "t")


def interval(*entries: IntervalEntry) -> LineageEvent:
    return build.lineage_event(
        IntervalEvent(query_id="q", entries=entries),
        job=JobRef("n", "j"),
        run=RunRef("0197c1de-52f0-7bd1-9d55-1a2b3c4d5e6f"),
        producer="https://example.com/producer",
        event_time=full.full_run_event().event_time,
    )


def subsets(documents: list[dict[str, Any]]) -> list[Position | None]:
    facets = [document["inputs"][0]["inputFacets"] for document in documents]
    return [position_of_subset(TOPIC, facet["subset"], "") for facet in facets]


def test_offsets_leave_as_a_subset_that_gives_them_again() -> None:
    event = interval(micro_batch(3, (0, 5, 9), (7, 0, 0)))
    documents = documents_of(event, plans)
    assert subsets(documents) == [Position(kafka=KafkaRanges("t", (OffsetRange(0, 5, 9), OffsetRange(7, 0, 0))))]
    [alternative] = [documents[0]["inputs"][0]["inputFacets"]["subset"]["inputCondition"]["left"]]
    assert (alternative["left"]["left"], alternative["left"]["comparison"], alternative["left"]["right"]) == (
        {"type": "field", "field": "partition"},
        "EQUAL",
        {"type": "literal", "value": "0"},
    )


def test_a_thousand_partitions_are_not_deep() -> None:
    event = interval(micro_batch(3, *((partition, 1, 2) for partition in range(1000))))
    [document] = documents_of(event, plans)
    assert subsets([document]) == [event.interval_event and event.interval_event.entries[0].inputs[0].position]
    assert events_of(json.loads(json.dumps(document)), tenant=event.tenant) == [event]


def test_micro_batches_that_go_on_share_a_document() -> None:
    event = interval(micro_batch(3, (0, 5, 9)), micro_batch(4, (0, 9, 12), (1, 0, 4)))
    [document] = documents_of(event, plans, coalesced=True)
    check_official(document)
    assert subsets([document]) == [Position(kafka=KafkaRanges("t", (OffsetRange(0, 5, 12), OffsetRange(1, 0, 4))))]
    assert document["inputs"][0]["inputFacets"]["inputStatistics"]["rowCount"] == 20
    assert events_of(document, tenant=event.tenant) == [event]


APART: list[IntervalEntry] = [
    micro_batch(4, (0, 10, 12)),
    micro_batch(4, (0, 8, 12)),
    IntervalEntry(batch_id=4),
    msgspec.structs.replace(micro_batch(4, (0, 9, 12)), outputs=(DatasetUse(dataset=TOPIC),)),
]


def test_micro_batches_with_a_gap_or_other_datasets_have_a_document_each(subtests: pytest.Subtests) -> None:
    for other in APART:
        with subtests.test(other=other):
            event = interval(micro_batch(3, (0, 5, 9)), other)
            assert documents_of(event, plans, coalesced=True) == documents_of(event, plans)


def test_what_is_only_known_of_some_is_left_out() -> None:
    event = interval(micro_batch(3, (0, 5, 9), rows=None), micro_batch(4, (0, 9, 12)))
    [document] = documents_of(event, plans, coalesced=True)
    assert "inputStatistics" not in document["inputs"][0]["inputFacets"]


def test_outcomes_on_what_was_read_leave_with_it_and_come_back() -> None:
    about = QualityResult(
        assertion="not_null",
        passed=False,
        column="id",
        value=0.5,
        dataset=TOPIC,
        rule="COMPLETENESS",
        severity="warn",
        suite="orders",
        suite_version="3",
    )
    of_the_write = QualityResult(assertion="size.few", passed=True)
    body = RunEvent(type=RunEventType.COMPLETE, inputs=(DatasetUse(dataset=TOPIC),) * 2, quality=(of_the_write, about))
    event = build.lineage_event(
        body,
        job=JobRef("n", "j"),
        run=RunRef("0197c1de-52f0-7bd1-9d55-1a2b3c4d5e6f"),
        producer="https://example.com/producer",
        event_time=full.full_run_event().event_time,
    )
    [document] = documents_of(event, plans)
    check_official(document)
    first, second = (each["inputFacets"] for each in document["inputs"])
    assert first["dataQualityAssertions"]["assertions"] == [
        {"assertion": "not_null", "success": False, "column": "id", "severity": "warn", "actual": "0.5"}
    ]
    assert second == {}
    assert events_of(json.loads(json.dumps(document)), tenant=event.tenant) == [event]


def test_a_condition_of_another_shape_is_no_position(subtests: pytest.Subtests) -> None:
    for literal in ("9x", "-1", "1.5", "", "99999999999999999999"):
        with subtests.test(literal):
            [document] = documents_of(interval(micro_batch(3, (0, 5, 9))), plans)
            subset = document["inputs"][0]["inputFacets"]["subset"]
            subset["inputCondition"]["left"]["right"]["value"] = literal
            assert position_of_subset(TOPIC, subset, "") is None
