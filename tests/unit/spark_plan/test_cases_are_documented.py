"""docs/columns.md lists every case of the lineage tests, from their goldens. Refreshed by UPDATE_GOLDENS=1."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "spark" / "plan" / "golden"
PAGE = ROOT / "docs" / "columns.md"
BEGIN, END = "<!-- cases: begin -->\n", "<!-- cases: end -->\n"

FAMILIES = {
    "columns": "Functions and expressions",
    "rows": "Rows: filters, groups, windows",
    "combining": "Joins, set operations, subqueries, views",
    "nested": "Structs, arrays, maps, JSON",
    "modern": "SQL of Spark 4: pipes, variants, SQL functions, variables",
    "frames": "DataFrame API, Python functions",
    "streaming": "Streaming queries",
    "writes": "Writes",
}


def listed() -> str:
    rows = ["| family | cases |", "|---|---|"]
    for stem, name in FAMILIES.items():
        titles = [line[2:] for line in (GOLDEN / f"{stem}.txt").read_text().splitlines() if line.startswith("# ")]
        rows.append(f"| {name} (`{stem}.txt`, {len(titles)}) | {'; '.join(titles)} |")
    return "\n".join(rows) + "\n"


def test_the_page_lists_all_cases() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(FAMILIES)
    page = PAGE.read_text()
    head, _, rest = page.partition(BEGIN)
    there, _, tail = rest.partition(END)
    if os.environ.get("UPDATE_GOLDENS"):
        PAGE.write_text(f"{head}{BEGIN}{listed()}{END}{tail}")
    else:
        assert there == listed(), "run UPDATE_GOLDENS=1 pytest tests/unit/spark_plan"
