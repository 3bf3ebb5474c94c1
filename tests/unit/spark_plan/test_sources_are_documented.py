"""docs/sources-and-sinks.md has every case of tests/spark/sources, from its golden; refreshed by UPDATE_GOLDENS=1."""

from __future__ import annotations

from pathlib import Path

from spark.plan.goldens import check_table, read_sections
from spark.sources.families import FAMILIES

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "spark" / "sources" / "golden"
PAGE = ROOT / "docs" / "sources-and-sinks.md"


def listed() -> str:
    text = ""
    for family in FAMILIES:
        sections = read_sections((GOLDEN / f"{family.name.lower()}.txt").read_text())
        text += f"\n### {family.name}\n\n| statement | reported |\n|---|---|\n"
        for case in family.cases:
            # Column edges are read in the golden: here it is which datasets, versions and counts.
            reported = [line for line in sections[case.title] if " <- " not in line and not line.startswith("! ")]
            shown = "<br>".join(f"`{line}`" for line in reported)
            text += f"| {case.title} | {shown} |\n"
    return f"{text}\n"


def test_the_page_lists_all_statements() -> None:
    check_table(PAGE, "cases", listed())


def test_something_is_reported_of_each_statement() -> None:
    for family in FAMILIES:
        sections = read_sections((GOLDEN / f"{family.name.lower()}.txt").read_text())
        assert [case.title for case in family.cases if not sections[case.title]] == []
        assert set(sections) == {case.title for case in family.cases}, "no golden of a case that was taken away"
