"""Declarations of sets, as `headwater show` prints them."""

from __future__ import annotations

from rich.console import Console

from headwater.commands import declare
from headwater.show.declared import declared_table, stated
from headwater_analysis.declared import Contradiction, Declared
from headwater_analysis.declaring.difference import ChangedDeclaration, ChangedValue, SetResult

FOUND = Declared(
    sets=["audit", "team"],
    values={
        "certified": True,
        "criticality": "tier-2",
        "notice_days": 14,
        "owners": ["team:orders", "ann"],
        "owner_types": ["OWNER", ""],
        "tags": ["domain", "fast"],
        "tag_values": ["sales", ""],
    },
    columns={"email": {"classification": "customers", "sensitivity": "PII"}},
    contradictions=[
        Contradiction("k", "dataset", "orders", None, "criticality", {"audit": "tier-2", "team": "tier-1"}),
        Contradiction("k", "dataset", "orders", "email", "sensitivity", {"audit": "PII", "team": "PUBLIC"}),
    ],
)


def printed() -> list[str]:
    console = Console(width=160, record=True, file=None, force_terminal=False)
    with console.capture() as captured:
        console.print(declared_table(FOUND))
    return [" ".join(line.split()) for line in captured.get().splitlines()]


def test_a_row_for_each_property_and_column_and_each_contradiction() -> None:
    assert printed() == [
        "in sets audit, team",
        "certified yes",
        "criticality tier-2",
        "notice days 14",
        "owners team:orders (OWNER), ann",
        "tags domain (sales), fast",
        "#email classification customers, sensitivity PII",
        "contradiction criticality: audit: tier-2; team: tier-1. The value of audit is shown.",
        "contradiction column email, sensitivity: audit: PII; team: PUBLIC. The value of audit is shown.",
    ]


def test_a_column_in_one_line() -> None:
    assert stated(FOUND.columns["email"]) == "classification customers, sensitivity PII"
    assert stated({}) == ""


def test_what_changes_is_named_and_what_is_empty_beside_it_is_not() -> None:
    values = [
        ChangedValue(None, "owner_types", None, ["", ""]),
        ChangedValue(None, "owners", ["a"], ["a", "b"]),
        ChangedValue(None, "column_lineage", ["n/a#x ← n/b#y (COPY)"], [f"n/a#{i} ← n/b (DERIVE)" for i in range(51)]),
        ChangedValue(None, "tag_values", [""], ["gold"]),
        ChangedValue("c", "sensitivity", "PII", None),
    ]
    changed = ChangedDeclaration("changed", "job", "n", "j", values)
    result = SetResult("s", 2, 1, 2, True, [changed], [], [], [])
    assert declare.view([result]).splitlines() == [
        "s: revision 2, 1 declaration, 1 changed",
        "  ~ job n j",
        "      owners: a → a, b",
        "      column lineage - n/a#x ← n/b#y (COPY)",
        *(f"      column lineage + n/a#{i} ← n/b (DERIVE)" for i in range(49)),
        "      column lineage: … and 2 more edges; --json lists all",
        "      tag_values: none → gold",
        "      c: sensitivity: PII → none",
    ]
