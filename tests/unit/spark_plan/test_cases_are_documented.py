"""docs/columns.md has what is covered, and lists every case of the lineage tests. Refreshed by UPDATE_GOLDENS=1."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark.plan import api_frames, python_frames  # noqa: F401 - they add their cases
from spark.plan.frames import CASES
from spark.plan.goldens import check_table, read_sections

ROOT = Path(__file__).parents[3]
TESTS = ROOT / "tests" / "spark" / "plan"
GOLDEN = TESTS / "golden"
SOURCES = ROOT / "tests" / "spark" / "sources" / "golden"
PAGE = ROOT / "docs" / "columns.md"

TEST_FILES = [path.read_text() for path in TESTS.parent.rglob("test_*.py")]

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


def titles(stem: str) -> list[str]:
    return [line[2:] for line in (GOLDEN / f"{stem}.txt").read_text().splitlines() if line.startswith("# ")]


def covered() -> str:
    """`what = family: title; family: title` is covered by those tests; `what ! reason` isn't covered yet."""
    rows = ["| what | | tests, or why not yet |", "|---|---|---|"]
    known = {f"{stem}: {title}" for stem in FAMILIES for title in titles(stem)}
    known |= {f"{path.stem}: {title}" for path in SOURCES.glob("*.txt") for title in read_sections(path.read_text())}
    for line in (TESTS / "covered.txt").read_text().splitlines():
        what, mark, reason = line.partition(" ! ")
        if mark:
            rows.append(f"| {what} | not yet | {reason} |")
            continue
        what, _, titles_of_tests = line.partition(" = ")
        tests = titles_of_tests.split("; ")
        assert set(tests) <= known, f"{what}: no such case: {set(tests) - known}"
        rows.append(f"| {what} | ✓ | {'; '.join(tests)} |")
    return "\n".join(rows) + "\n"


def listed() -> str:
    rows = ["| family | cases |", "|---|---|"]
    rows += [
        f"| {name} (`{stem}`, {len(titles(stem))}) | {'; '.join(titles(stem))} |" for stem, name in FAMILIES.items()
    ]
    return "\n".join(rows) + "\n"


def test_every_golden_file_is_a_family() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(FAMILIES)


def tried(stem: str) -> set[str]:
    """The titles that a test of the family compares with its golden."""
    cases = TESTS / "cases" / f"{stem}.sql"
    if cases.exists():
        return set(read_sections(cases.read_text(), "-- "))
    if stem == "frames":
        return set(CASES)
    # Each in a test of its own, which names it.
    return {title for title in titles(stem) if any(f'"{title}"' in text for text in TEST_FILES)}


def test_each_case_of_a_golden_is_tested(subtests: pytest.Subtests) -> None:
    """Else a case that was taken away would stay on the page, with nothing behind it."""
    for stem in FAMILIES:
        with subtests.test(stem):
            assert set(titles(stem)) == tried(stem)


@pytest.mark.parametrize(("name", "table"), [("covered", covered), ("cases", listed)])
def test_the_page_has_the_table(name: str, table: object) -> None:
    assert callable(table)
    check_table(PAGE, name, table())
