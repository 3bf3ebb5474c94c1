"""Columns that a name stands for, by the history of a table's columns; times in hours."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from headwater_analysis.column_names import ColumnNameChange, ColumnNames, column_names

START = datetime(2025, 1, 1, tzinfo=UTC)

# What happened, as `at old>new` or `at old>`, and the columns now ⇒ by path what it stood for, `column since-until`,
# what it is taken for last; and what was dropped under a name that another column has.
CASES: dict[str, tuple[list[str], str, dict[str, str], str]] = {
    "nothing": ([], "a b", {"a": "a -"}, ""),
    "renamed": (["1 nm>full_name"], "full_name", {"full_name": "full_name 1-", "nm": "nm 1-, full_name -1"}, ""),
    "renamed, and the name used again": (
        ["1 nm>full_name"],
        "nm full_name",
        {"full_name": "full_name 1-", "nm": "full_name -1, nm 1-"},
        "",
    ),
    "renamed twice": (
        ["1 a>b", "2 b>c"],
        "c",
        {"a": "a 1-, c -1", "b": "b 2-, c 1-2", "c": "c 2-"},
        "",
    ),
    "back to the first name": (["1 a>b", "2 b>a"], "a", {"a": "a -1, a 2-", "b": "b 2-, a 1-2"}, ""),
    "two that change names": (
        ["1 a>x", "2 b>a", "3 x>b"],
        "a b",
        {"a": "b -1, a 2-", "b": "a -2, b 3-", "x": "x 3-, b 1-3"},
        "",
    ),
    "a struct renamed": (
        ["1 addr>address"],
        "address address.zip",
        {"addr.zip": "addr.zip 1-, address.zip -1", "address.zip": "address.zip 1-"},
        "",
    ),
    "a nested field": (["1 s.[].a>s.[].b"], "s s.[].b", {"s.[].a": "s.[].a 1-, s.[].b -1", "s": "s -"}, ""),
    "dropped": (["1 label>"], "a", {"label": "label -"}, ""),
    "dropped and added": (["1 label>"], "label", {"label": "label 1-"}, "label 1"),
    "a struct dropped and added": (["1 s>"], "s s.a", {"s": "s 1-", "s.a": "s.a 1-"}, "s 1 s.a 1"),
    "dropped twice": (["1 label>", "2 label>"], "a", {"label": "label 1-"}, "label 1"),
    "another renamed to a dropped one": (["1 a>", "2 b>a"], "a", {"a": "a 2-", "b": "b 2-, a -2"}, ""),
}


def names(happened: list[str], current: str) -> ColumnNames:
    changes = []
    for text in happened:
        hours, _, change = text.partition(" ")
        before, _, after = change.partition(">")
        changes.append(ColumnNameChange(START + timedelta(hours=int(hours)), before, after or None))
    return column_names(changes, {*current.split(), "addr.zip", "s.a"}, current.split())


def hour(at: datetime | None) -> str:
    return "" if at is None else str(int((at - START) / timedelta(hours=1)))


@pytest.mark.parametrize("case", CASES)
def test_what_a_name_stood_for(case: str) -> None:
    happened, current, expected, dropped = CASES[case]
    found = names(happened, current)
    shown = {
        path: ", ".join(f"{each.shown} {hour(each.since)}-{hour(each.until)}" for each in found.of(path))
        for path in expected
    }
    assert shown == expected
    assert " ".join(f"{path} {hour(found.former[path])}" for path in sorted(found.dropped)) == dropped
