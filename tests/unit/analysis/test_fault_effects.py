"""Effects of faults by use: the table as it is documented, and uses by kinds and formulas."""

from __future__ import annotations

import pytest

from headwater_analysis.incidents.fault_effects import (
    EFFECTS,
    OF_ROWS,
    STRONGEST_FIRST,
    ColumnFault,
    ColumnUse,
    FaultEffect,
    fault_of,
    use_of,
)
from headwater_schemas.events import IncidentType, TransformationKind

U = ColumnUse
TAINTS, MAY_TAINT, DEGRADES, WARNS = FaultEffect


def test_every_use_of_every_fault_is_decided() -> None:
    """Only repeated rows have uses without an effect."""
    missing = {(fault, use) for fault in ColumnFault for use in U if use not in EFFECTS[fault]}
    assert missing == {(ColumnFault.DUPLICATES, use) for use in (U.IDEMPOTENT, U.FILTER, U.GROUP)}


def test_what_goes_on_is_no_stronger_than_its_effect() -> None:
    """A copy of an output has the effect that the output has: no fault becomes another one by being copied."""
    for row in EFFECTS.values():
        for found in row.values():
            copied = EFFECTS[found.then][U.VALUE]
            assert (copied.effect, copied.then) == (found.effect, found.then)


def test_the_strongest_effect_is_first() -> None:
    assert STRONGEST_FIRST == (TAINTS, MAY_TAINT, DEGRADES, WARNS)
    assert {ColumnFault.MISSING_ROWS, ColumnFault.DUPLICATES} == OF_ROWS


@pytest.mark.parametrize(
    ("type_", "cause", "of_column", "fault"),
    [
        (IncidentType.MISSING_DATA, None, True, ColumnFault.NULLS),
        (IncidentType.MISSING_DATA, None, False, ColumnFault.MISSING_ROWS),
        (IncidentType.DUPLICATES, None, True, ColumnFault.DUPLICATES),
        (IncidentType.BAD_RECORDS, "assertion REFERENTIAL on customer of w/orders by load", True, ColumnFault.DANGLING),
        (IncidentType.BAD_RECORDS, "assertion RANGE on referential of w/orders", True, ColumnFault.WRONG),
        (IncidentType.CUSTOM, "REFERENTIAL", True, ColumnFault.OTHER),
        (IncidentType.LATE, None, False, ColumnFault.STALE),
        (IncidentType.SCHEMA, None, False, ColumnFault.DRIFT),
        (None, None, True, ColumnFault.OTHER),
    ],
)
def test_a_fault(type_: IncidentType | None, cause: str | None, of_column: bool, fault: ColumnFault) -> None:
    assert fault_of(type_, cause, of_column=of_column) is fault


@pytest.mark.parametrize(
    ("text", "use", "function"),
    [
        ("sum(amount)", U.AGGREGATE, "sum"),
        ("max(amount)", U.IDEMPOTENT, "max"),
        ("max", U.IDEMPOTENT, "max"),
        ("cast(coalesce(min(amount), ?) as double)", U.IDEMPOTENT, "min"),
        ("count(DISTINCT amount)", U.IDEMPOTENT, "count"),
        ("sum( distinct amount)", U.IDEMPOTENT, "sum"),
        # Which of both sums the column is in isn't known from their names alone.
        ("(sum(DISTINCT id) / sum(amount))", U.AGGREGATE, "sum"),
        ("max(sum(amount))", U.AGGREGATE, "sum"),
        ("(max(id) / sum(amount))", U.AGGREGATE, "sum"),
        ("my_own(amount)", U.AGGREGATE, None),
        ("max(my_own(amount))", U.AGGREGATE, None),
        ("", U.AGGREGATE, None),
        (None, U.AGGREGATE, None),
    ],
)
def test_an_aggregate(text: str | None, use: ColumnUse, function: str | None) -> None:
    found = use_of("AGGREGATE", text, "amount", grouped=True)
    assert (found.use, found.function, found.is_known) == (use, function, function is not None)


def test_every_kind_of_transformation_is_a_use() -> None:
    uses = {kind.value: use_of(kind, None, "a", grouped=False).use for kind in TransformationKind}
    by_row = ("COPY", "RENAME", "CAST", "HASH", "MASK", "DERIVE", "CONSTANT")
    assert uses == dict.fromkeys(by_row, U.VALUE) | {
        "UNKNOWN": U.BLACK_BOX,
        "EXTERNAL": U.BLACK_BOX,
        "AGGREGATE": U.AGGREGATE,
        "JOIN_DEPENDENCY": U.JOIN,
        "FILTER_DEPENDENCY": U.FILTER,
        "GROUP_DEPENDENCY": U.GROUP,
        "SORT_DEPENDENCY": U.ORDER,
        "WINDOW_DEPENDENCY": U.ORDER,
        "CONDITIONAL": U.CONDITION,
    }
    assert use_of("COPY", None, "a", grouped=True).use is U.GROUPED
