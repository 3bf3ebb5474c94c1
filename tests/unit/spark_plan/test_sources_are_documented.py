"""docs/sources-and-sinks.md has every case of tests/spark/sources, from its golden; refreshed by UPDATE_GOLDENS=1."""

from __future__ import annotations

import os
from pathlib import Path

from spark.plan.goldens import read_sections
from spark.sources.cases import FAMILIES

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "spark" / "sources" / "golden"
PAGE = ROOT / "docs" / "sources-and-sinks.md"
BEGIN, END = "<!-- cases: begin -->\n", "<!-- cases: end -->\n"


def listed() -> str:
    text = ""
    for family in FAMILIES:
        sections = read_sections((GOLDEN / f"{family.name.lower()}.txt").read_text())
        text += f"\n### {family.name}\n\n| statement | told |\n|---|---|\n"
        for case in family.cases:
            # Column edges are read in the golden: here it is which datasets, versions and counts.
            told = [line for line in sections[case.title] if " <- " not in line and not line.startswith("! ")]
            shown = "<br>".join(f"`{line}`" for line in told)
            text += f"| {case.title} | {shown} |\n"
    return f"{text}\n"


def test_the_page_lists_all_statements() -> None:
    page = PAGE.read_text()
    head, _, rest = page.partition(BEGIN)
    there, _, tail = rest.partition(END)
    if os.environ.get("UPDATE_GOLDENS"):
        PAGE.write_text(f"{head}{BEGIN}{listed()}{END}{tail}")
    else:
        assert there == listed(), "run UPDATE_GOLDENS=1 pytest tests/unit/spark_plan/test_sources_are_documented.py"


def test_each_statement_has_something_to_tell() -> None:
    for family in FAMILIES:
        sections = read_sections((GOLDEN / f"{family.name.lower()}.txt").read_text())
        assert [case.title for case in family.cases if not sections[case.title]] == []
