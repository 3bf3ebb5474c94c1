"""A removed column of flights.departed: exactly what needs it, whom to notify and where its values went, by hand."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from headwater_analysis.declaring.reading import read_set
from headwater_analysis.errors import ArrivalsUnknownError, QuestionError
from headwater_analysis.impact import (
    Cause,
    ChangeType,
    Extent,
    ImpactChange,
    ImpactItem,
    ImpactPage,
    SchemaChange,
    Severity,
    analyze,
)
from headwater_analysis.lineage import Influence
from headwater_analysis.privacy import PrivacyQuestion, privacy
from headwater_analysis.privacy.exposed_data import PrivacyItem
from headwater_analysis.privacy.operations import Exposure
from headwater_analysis.reader import Reader
from headwater_schemas.events import Certainty
from support.analysis.paging import pages
from support.demo_graph import demo_events
from support.graph.writing import hold

if TYPE_CHECKING:
    from neo4j import Driver


pytestmark = pytest.mark.stack

ROOT = Path(__file__).parents[3]
BY_HAND: dict[str, Any] = yaml.safe_load(
    (ROOT / "tests" / "recordings" / "demo" / "removed_columns.yaml").read_text(encoding="utf-8")
)


def test_every_column_is_in_the_table() -> None:
    (schema,) = {
        tuple(field.path for field in event.dataset_event.schema.fields)
        for event in demo_events()
        if event.dataset_event and event.dataset_event.dataset.name == "flights.departed" and event.dataset_event.schema
    }
    assert sorted(schema) == sorted(BY_HAND)


def test_a_removed_column_names_exactly_what_needs_it(demo_reader: Reader) -> None:
    for column, expected in BY_HAND.items():
        impact = analyze(demo_reader, ImpactChange("flights.departed", column, schema=SchemaChange.REMOVED))
        columns = [item for item in impact.items if item.asset.column is not None]
        found = {
            "value": by_dataset(item for item in columns if item.influence is Influence.DIRECT),
            "chosen": by_dataset(item for item in columns if item.influence is Influence.INDIRECT),
            "rows": {item.asset.title for item in impact.items if item.cause is Cause.ROWS},
            "later": {item.asset.title for item in impact.items if item.cause is Cause.FLOW},
        }
        assert found == {
            "value": {dataset: set(names) for dataset, names in expected.get("value", {}).items()},
            "chosen": {dataset: set(names) for dataset, names in expected.get("chosen", {}).items()},
            "rows": set(expected.get("rows", [])),
            "later": set(expected.get("later", [])),
        }, column
        # What is named as needed can't be made without it; a payload that lacks a field is poorer; the rest is late.
        for item in impact.items:
            poorer = item.cause is Cause.FLOW or item.asset.column == "value"
            assert item.severity is (Severity.DEGRADED if poorer else Severity.BREAKING), (column, item.asset)
        assert impact.severity is (Severity.BREAKING if expected else Severity.NONE)


def by_dataset(items: Any) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for item in items:
        found[item.asset.title].add(item.asset.column)
    return dict(found)


def test_a_lookup_table_is_not_what_it_is_looked_up_by(demo_reader: Reader) -> None:
    """enrich.py joins airlines.csv from the left: its key finds the airline's name, and flights don't need it."""
    impact = analyze(demo_reader, ImpactChange("airlines.csv", "carrier", schema=SchemaChange.REMOVED))
    columns = by_dataset(item for item in impact.items if item.asset.column is not None)
    assert columns == {
        "flights.enriched": {"value.airline", "value"},
        "delays": {"airline"},
        "daily_report": {"airline"},
    }


def test_a_column_gone_from_a_file_fails_the_job_and_what_comes_after_gets_nothing_new(demo_reader: Reader) -> None:
    """daily_report.py reads `late` from Parquet by name; nobody reads what it writes."""
    impact = analyze(demo_reader, ImpactChange("delays", "late", schema=SchemaChange.REMOVED))
    found = {item.asset.column: (item.cause, item.severity) for item in impact.items}
    assert found == {
        "late_share": (Cause.VALUE, Severity.BREAKING),
        None: (Cause.JOB, Severity.BREAKING),
    }
    (job,) = impact.jobs
    assert (job.job.name, job.fails) == ("flights.daily_report", True)
    assert not any(
        job.fails
        for job in analyze(demo_reader, ImpactChange("flights.departed", "value", schema=SchemaChange.REMOVED)).jobs
    )
    # `seats` is there, and nobody asks for it.
    unused = analyze(demo_reader, ImpactChange("delays", "seats", schema=SchemaChange.REMOVED))
    assert (unused.total, unused.severity, unused.jobs) == (0, Severity.NONE, ())


def test_every_hop_is_reported(demo_reader: Reader) -> None:
    impact = analyze(demo_reader, ImpactChange("flights.departed", "value.dep_delay", schema=SchemaChange.REMOVED))
    item = item_of(impact.items, "daily_report", "late_share")
    assert [(hop.asset.title, hop.asset.column, hop.job.name, hop.cause) for hop in item.path] == [
        ("flights.enriched", "value.dep_delay", "flights.enrich", Cause.VALUE),
        ("delays", "late", "flights.delays", Cause.CHOICE),
        ("daily_report", "late_share", "flights.daily_report", Cause.VALUE),
    ]
    assert [hop.transformation.kind for hop in item.path if hop.transformation] == ["CAST", "CONDITIONAL", "AGGREGATE"]
    assert (item.hops, item.influence) == (3, Influence.INDIRECT)
    assert item.reason == (
        "flights.daily_report derives it from late of delays (AGGREGATE): without this input its value can't be "
        "computed."
    )
    assert [(owner.name, owner.of.name) for owner in item.owners] == [("team:flights", "flights.daily_report")]


def item_of(items: tuple[ImpactItem, ...], title: str, column: str | None) -> ImpactItem:
    return next(item for item in items if (item.asset.title, item.asset.column) == (title, column))


def test_pages_are_the_answer_cut_in_pieces(demo_reader: Reader) -> None:
    change = ImpactChange("flights.departed", "value", schema=SchemaChange.REMOVED)
    whole = analyze(demo_reader, change)
    found = pages(lambda cursor=None: analyze(demo_reader, change, page=ImpactPage(limit=7, cursor=cursor)))
    assert all((page.total, page.totals, page.jobs) == (whole.total, whole.totals, whole.jobs) for page in found)
    assert tuple(item for page in found for item in page.items) == whole.items
    assert sum(total.total for total in whole.totals) == whole.total == whole.direct + whole.indirect


def test_less_depth(demo_reader: Reader) -> None:
    change = ImpactChange("flights.departed", "value.dep_delay", schema=SchemaChange.REMOVED)
    impact = analyze(demo_reader, change, page=ImpactPage(depth=2))
    assert impact.truncated
    assert impact.max_hops == 2
    assert {job.job.name for job in impact.jobs} == {"flights.enrich", "flights.delays"}


def test_sensitive_values_end_where_they_are_counted(demo_reader: Reader) -> None:
    change = ImpactChange("flights.departed", "value.dep_delay", ChangeType.PRIVACY_RECLASSIFICATION)
    impact = analyze(demo_reader, change)
    counted = item_of(impact.items, "delays", "departed")
    assert (counted.severity, counted.propagates) == (Severity.INFO, False)
    assert item_of(impact.items, "delays", "max_delay").severity is Severity.RESTRICTED
    # `cancelled` is made of counts alone.
    assert "cancelled" not in {item.asset.column for item in impact.items}


def test_a_late_dataset_is_late_by_datasets(demo_reader: Reader) -> None:
    impact = analyze(demo_reader, ImpactChange("flights.enriched", type=ChangeType.FRESHNESS_BREACH))
    assert {item.asset.title: (item.hops, item.severity) for item in impact.items} == {
        "delays": (1, Severity.BLOCKING),
        "routes": (1, Severity.BLOCKING),
        "flights.routes": (1, Severity.BLOCKING),
        "daily_report": (2, Severity.WARNING),
    }


def test_a_part_hits_what_it_came_to(demo_reader: Reader) -> None:
    """Batch 1 of enrich read offsets 100 to 200 of partition 0; nobody has read offset 9,999,999."""
    wrong = ChangeType.DATA_INCORRECT
    read = analyze(demo_reader, ImpactChange("flights.departed", type=wrong, extent=Extent("0", 100, 200)))
    assert {item.asset.title for item in read.items} == {
        "flights.enriched", "delays", "routes", "flights.routes", "daily_report",
    }  # fmt: skip
    assert all(part.dataset == item.asset for item in read.items for part in item.parts)
    assert all(item.parts for item in read.items)
    # No part is surer than the way to it: enrich joins, and what routes read of its own table isn't listed.
    sure = {item.asset.title: {part.certainty for part in item.parts} for item in read.items}
    assert sure["flights.enriched"] == {Certainty.UPPER_BOUND}
    assert sure["routes"] == {Certainty.UPPER_BOUND, Certainty.UNKNOWN}
    assert sure["daily_report"] == {Certainty.UPPER_BOUND}
    column = ImpactChange("flights.departed", "value.distance", wrong, extent=Extent("0", 100, 200))
    assert by_dataset(analyze(demo_reader, column).items) == {
        "flights.enriched": {"value", "value.distance"},
        "routes": {"miles"},
        "flights.routes": {"value", "value.miles"},
    }
    unread = analyze(demo_reader, ImpactChange("flights.departed", type=wrong, extent=Extent("0", 9_999_999)))
    assert (unread.total, unread.severity) == (0, Severity.INFO)
    assert any("Not read yet" in note for note in unread.notes)
    early = ImpactChange("flights.departed", type=wrong, extent=Extent(until=datetime(2013, 1, 1, tzinfo=UTC)))
    with pytest.raises(ArrivalsUnknownError, match="no Kafka is configured here"):
        analyze(demo_reader, early)
    assert early.extent is not None
    read_early = replace(early, extent=replace(early.extent, read_time=True))
    assert analyze(demo_reader, read_early).total == 0


TODAY, DECLARED = date(2026, 11, 22), datetime(2026, 11, 22, tzinfo=UTC)
COLUMN = "flights.departed"


@pytest.fixture
def declared_demo(neo4j_driver: Driver) -> None:
    events = [*demo_events()]
    for name in ("flights", "privacy"):
        text = (ROOT / "docs" / "examples" / "declare" / f"{name}.yaml").read_text(encoding="utf-8")
        events += read_set(f"{name}.yaml", text).events(1, tenant="default", event_time=DECLARED)
    hold(neo4j_driver, "the demo and what is declared of it", events)


@pytest.mark.usefixtures("declared_demo")
def test_a_removed_column_names_exactly_whom_to_notify(reader: Reader) -> None:
    for column, expected in BY_HAND.items():
        impact = analyze(reader, ImpactChange(COLUMN, column, schema=SchemaChange.REMOVED))
        assert [consumer.name for consumer in impact.consumers] == expected.get("consumers", []), column


@pytest.mark.usefixtures("declared_demo")
def test_where_the_values_of_a_column_went(reader: Reader) -> None:
    for column, expected in BY_HAND.items():
        sensitive = expected.get("sensitive")
        if sensitive is None:
            with pytest.raises(QuestionError, match="isn't declared"):
                privacy(reader, PrivacyQuestion(COLUMN, column), TODAY)
            continue
        found = privacy(reader, PrivacyQuestion(COLUMN, column), TODAY)
        if "as" in sensitive:
            assert [source.sensitivity for source in found.sources] == [sensitive["as"]]
        held: dict[str, dict[str, set[str]]] = {"clear": {}, "hidden": {}, "ended": {}}
        for how, items in by_fate(found.items).items():
            for item in items:
                held[how].setdefault(item.asset.title or item.asset.name, set()).add(item.asset.column or "")
        assert held == {
            how: {dataset: set(names) for dataset, names in sensitive.get(how, {}).items()} for how in held
        }, column


def by_fate(items: tuple[PrivacyItem, ...]) -> dict[str, list[PrivacyItem]]:
    found = defaultdict(list)
    for item in items:
        if item.influence is Influence.DIRECT:
            how = "clear" if item.exposure is Exposure.READABLE else "hidden"
            found["ended" if item.ending is not None else how].append(item)
    return found


def test_the_table_has_consumers_of_every_column_that_somebody_declared_needs() -> None:
    """Both columns of the table are there for some, and not for all."""
    for name in ("consumers", "sensitive"):
        assert {name in expected for expected in BY_HAND.values()} == {True, False}
