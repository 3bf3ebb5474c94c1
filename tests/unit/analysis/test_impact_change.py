"""Changes that impact analysis accepts, wider types, and text that goes into a ticket."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater_analysis.assets import Asset, AssetKind
from headwater_analysis.errors import QuestionError
from headwater_analysis.impact import (
    ChangeType,
    Extent,
    ImpactChange,
    ImpactPage,
    SchemaChange,
)
from headwater_analysis.impact.start import widens
from headwater_analysis.impact.wording import headline, summary_of
from support.analysis.impacts import impact_of

NOON = datetime(2025, 1, 31, 12, tzinfo=UTC)
WRONG = ChangeType.DATA_INCORRECT
REFUSED = [
    (ImpactChange("d"), "type"),
    (ImpactChange("d", type=ChangeType.SCHEMA_BREAKING), "schema"),
    (ImpactChange("d", schema=SchemaChange.REMOVED), "column"),
    (ImpactChange("d", "c", schema=SchemaChange.PARTITIONING), "column"),
    (ImpactChange("d", schema=SchemaChange.UNIT), "column"),
    (ImpactChange("d", "c", WRONG, SchemaChange.REMOVED), "schema"),
    (ImpactChange("d", "c", ChangeType.SCHEMA_COMPATIBLE, SchemaChange.REMOVED), "type"),
    (ImpactChange("d", "c", ChangeType.SCHEMA_COMPATIBLE, SchemaChange.RENAMED), "type"),
    (ImpactChange("d", "c", schema=SchemaChange.REMOVED, new_name="e"), "new_name"),
    (ImpactChange("d", "c", schema=SchemaChange.RENAMED, new_type="int"), "new_type"),
    (ImpactChange("d", "c", schema=SchemaChange.RETYPED, nullable=True), "nullable"),
    (ImpactChange("d", "c", type=ChangeType.FRESHNESS_BREACH), "column"),
    (ImpactChange("d", "c", schema=SchemaChange.REMOVED, extent=Extent("0")), "extent"),
    (ImpactChange("d", type=ChangeType.ASSET_DEPRECATED, extent=Extent("0")), "extent"),
    (ImpactChange("d", type=WRONG, extent=Extent()), "extent"),
    (ImpactChange("d", type=WRONG, extent=Extent(first_offset=3)), "extent"),
    (ImpactChange("d", type=WRONG, extent=Extent("day=1", first_offset=3)), "extent"),
    (ImpactChange("d", type=WRONG, extent=Extent("0", end_offset=3)), "extent"),
    (ImpactChange("d", type=WRONG, extent=Extent("0", first_offset=3, end_offset=3)), "extent"),
    (ImpactChange("d", type=WRONG, extent=Extent("0", first_offset=3, since=NOON)), "extent"),
    (ImpactChange("d", type=WRONG, extent=Extent(since=NOON, until=NOON)), "extent"),
    (ImpactChange("d", type=WRONG, extent=Extent(since=NOON.replace(tzinfo=None))), "extent"),
]
TAKEN = [
    ImpactChange("d", "c", schema=SchemaChange.ADDED, new_type="int"),
    ImpactChange("d", "c", ChangeType.SCHEMA_COMPATIBLE, SchemaChange.RETYPED),
    ImpactChange("d", "c", schema=SchemaChange.NULLABILITY, nullable=False),
    ImpactChange("d", schema=SchemaChange.PARTITIONING),
    ImpactChange("d", "c", schema=SchemaChange.UNIT),
    ImpactChange("d", type=WRONG, extent=Extent("0", 3, 4)),
    ImpactChange("d", "c", WRONG, extent=Extent("day=2025-01-31")),
    ImpactChange("d", type=ChangeType.BACKFILL_RESTATEMENT, extent=Extent(since=NOON)),
]


def test_what_makes_no_sense_names_the_field(subtests: pytest.Subtests) -> None:
    for change, field in REFUSED:
        with subtests.test(change=change, field=field):
            with pytest.raises(QuestionError) as refused:
                change.check()
            assert refused.value.field == field


def test_what_makes_sense(subtests: pytest.Subtests) -> None:
    for change in TAKEN:
        with subtests.test(change=change):
            change.check()


def test_pages(subtests: pytest.Subtests) -> None:
    cases = [
        (ImpactPage(depth=0), "depth"),
        (ImpactPage(limit=0), "limit"),
        (ImpactPage(limit=1001), "limit"),
    ]
    for page, field in cases:
        with subtests.test(page=page):
            with pytest.raises(QuestionError) as refused:
                page.check()
            assert refused.value.field == field


def test_wider(subtests: pytest.Subtests) -> None:
    cases = [
        ("int", "bigint"),
        ("INTEGER", "long"),
        ("smallint", "int"),
        ("float", "double"),
        ("int", "double"),
        ("date", "timestamp"),
        ("decimal(8,2)", "decimal(10, 2)"),
        ("decimal(8,2)", "decimal(10,4)"),
        ("int", "decimal(10,0)"),
        ("varchar(10)", "varchar(20)"),
        ("varchar(10)", "string"),
        ("string", "STRING"),
    ]
    for before, after in cases:
        with subtests.test(before=before, after=after):
            assert widens(before, after)


def test_not_wider(subtests: pytest.Subtests) -> None:
    cases = [
        ("bigint", "int"),
        ("int", "float"),
        ("bigint", "double"),
        ("int", "string"),
        ("string", "int"),
        ("decimal(8,2)", "decimal(9,4)"),
        ("decimal(8,2)", "decimal(8,1)"),
        ("int", "decimal(9,0)"),
        ("varchar(20)", "varchar(10)"),
        ("char(10)", "char(20)"),  # it is padded with blanks
        ("timestamp", "date"),
        ("struct<a:int>", "struct<a:bigint>"),
        (None, "int"),
        ("int", None),
    ]
    for before, after in cases:
        with subtests.test(before=before, after=after):
            assert not widens(before, after)


@given(st.text(), st.text(), st.text())
def test_names_are_never_markdown(name: str, column: str, job: str) -> None:
    """Whatever things are called, the ticket has the same lines, and a row the same cells."""
    plain = summary_of(
        impact_of(Asset(AssetKind.COLUMN, "k", "n", "d", "c"), Asset(AssetKind.JOB, "j", "n", "j"), CHANGE)
    )
    named = Asset(AssetKind.COLUMN, "k", "n", name, column)
    text = summary_of(impact_of(named, Asset(AssetKind.JOB, "j", "n", job), CHANGE))
    assert len(text.split("\n")) == len(plain.split("\n"))
    (row,) = [line for line in text.split("\n") if line.startswith("| **")]
    assert len([at for at, sign in enumerate(row) if sign == "|" and not escaped(row, at)]) == 7


def escaped(text: str, at: int) -> bool:
    """True when an odd number of backslashes stands before the position."""
    before = text[:at]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


CHANGE = ImpactChange("d", "c", schema=SchemaChange.REMOVED)


def test_a_name_of_10_kilobytes_is_cut() -> None:
    long = Asset(AssetKind.COLUMN, "k", "n", "ü" * 10_000, "`x`|" * 3_000)
    text = summary_of(impact_of(long, Asset(AssetKind.JOB, "j", "n", "j" * 10_000), CHANGE))
    assert len(text) < 5_000
    assert "…" in text


def test_headlines(subtests: pytest.Subtests) -> None:
    cases = [
        (ImpactChange("d", "c", schema=SchemaChange.REMOVED), "c of d is removed"),
        (ImpactChange("d", "c", schema=SchemaChange.RENAMED, new_name="e"), "c of d is renamed to e"),
        (ImpactChange("d", "c", schema=SchemaChange.RETYPED, new_type="int"), "c of d is retyped from string to int"),
        (ImpactChange("d", "c", schema=SchemaChange.NULLABILITY, nullable=True), "c of d may be null from now on"),
        (ImpactChange("d", "c", schema=SchemaChange.NULLABILITY), "c of d changes its nullability"),
        (ImpactChange("d", "x", schema=SchemaChange.ADDED, new_type="int"), "x of d is added as int"),
        (ImpactChange("d", "c", schema=SchemaChange.ENUM), "c of d has other values"),
        (ImpactChange("d", "c", schema=SchemaChange.UNIT), "c of d has another unit"),
        (ImpactChange("d", "c", schema=SchemaChange.MEANING), "c of d means something else"),
        (ImpactChange("d", "c", WRONG), "Wrong data in c of d"),
        (
            ImpactChange("d", "c", WRONG, extent=Extent("0", 5, 9)),
            "Wrong data in c of d, partition 0, offsets 5..9",
        ),
    ]
    for change, says in cases:
        with subtests.test(change=change):
            start = Asset(AssetKind.COLUMN, "k", "n", "d", "c", type="string")
            assert headline(change, change.type or ChangeType.SCHEMA_BREAKING, start) == says
